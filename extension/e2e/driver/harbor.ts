// A Harbor of a test's own: programs, a home, real servers, the native host registered for one browser.
//
// Owns its directories and its bridge. Must never touch the tester's own Harbor, and leaves nothing running.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Where the built programs are, and the servers that scripts/servers installs. */
export const BIN = process.env["HARBOR_TEST_BIN"] ?? join(__ROOT__, "..", "target", "debug");
export const SERVERS = process.env["HARBOR_TEST_SERVERS"] ?? join(__ROOT__, "..", ".harbor-test", "servers");

/** Runs the small language model, where scripts/model has found a server for it. */
export const modelProgram = join(SERVERS, "model", "start");

/** The program of a real server. */
export const serverEntry = (packageName: string, entry: string): string => join(SERVERS, "npm", "node_modules", packageName, entry);

export class Harbor {
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;

  private constructor(dir: string) {
    this.dir = dir;
    const { PATH, LANG } = process.env;
    const home = join(dir, "home");
    this.env = { PATH, LANG, HOME: home, HARBOR_HOME: join(home, ".harbor"), XDG_RUNTIME_DIR: join(dir, "run") };
  }

  /** A new one, with this configuration. */
  static async make(config = ""): Promise<Harbor> {
    const harbor = new Harbor(await mkdtemp(join(tmpdir(), "hx-")));
    await mkdir(join(harbor.dir, "home", ".harbor"), { recursive: true, mode: 0o700 });
    await mkdir(join(harbor.dir, "run"), { mode: 0o700 });
    if (config !== "") await writeFile(join(harbor.dir, "home", ".harbor", "config.toml"), config, { mode: 0o600 });
    return harbor;
  }

  /** Writes config.toml anew. */
  async configure(config: string): Promise<void> {
    await writeFile(join(this.dir, "home", ".harbor", "config.toml"), config, { mode: 0o600 });
  }

  /** Runs `harbor ARGS…`; what it prints. */
  async cli(...args: string[]): Promise<string> {
    return (await run(join(BIN, "harbor"), args, { env: this.env, cwd: this.dir })).stdout;
  }

  /** The same with something on its standard input. */
  async tell(input: string, ...args: string[]): Promise<string> {
    const child = run(join(BIN, "harbor"), args, { env: this.env, cwd: this.dir });
    child.child.stdin?.end(input);
    return (await child).stdout;
  }

  /** Adds a real server of the npm packages, and starts it. */
  async add(id: string, packageName: string, entry: string, ...args: string[]): Promise<void> {
    await this.cli("add", id, "--", "node", serverEntry(packageName, entry), ...args);
  }

  async everything(): Promise<void> {
    await this.add("everything", "@modelcontextprotocol/server-everything", "dist/index.js");
  }

  /** Ends the bridge and all that it has started. */
  async end(): Promise<void> {
    await this.cli("shutdown");
    await rm(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
