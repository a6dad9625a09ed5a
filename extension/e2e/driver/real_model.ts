// The small language model that scripts/model installs, in its real server on this machine.
//
// Owns that process. Where scripts/model has found no server that runs here, there is none, and it says so.

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { until } from "./browser.ts";
import { type Harbor, modelProgram } from "./harbor.ts";

/** Without one it would answer every web page. */
const KEY = "sk-of-the-real-server";

/** The same answer each time; and one thread, since two wait for each other on a machine that does more than this. */
const OPTIONS = ["--temp", "0", "--threads", "1"];

export class RealModel {
  readonly #process: ChildProcess;
  readonly #url: string;

  private constructor(process: ChildProcess, url: string) {
    this.#process = process;
    this.#url = url;
  }

  /** Starts it with these options, and has a Harbor use it where no model is named; `undefined`: there is none on this machine. */
  static async start(harbor: Harbor, options: string[] = []): Promise<RealModel | undefined> {
    const model = await RealModel.listen(await freePort(), options, { LLAMA_API_KEY: KEY });
    if (model === undefined) return undefined;
    await harbor.cli("models", "add", "llama-server", "--name", "real", "--url", `${model.#url}/v1`);
    await harbor.tell(KEY, "models", "key", "real");
    await harbor.cli("models", "default", "real:smollm2");
    return model;
  }

  /** Starts it at this port, as a person does in a terminal: no Harbor knows it. */
  static async listen(port: number, options: string[] = [], env: { [name: string]: string } = {}): Promise<RealModel | undefined> {
    if (!existsSync(modelProgram)) {
      console.error("no real model was asked: no server for it runs on this machine");
      return undefined;
    }
    const child = spawn(modelProgram, [String(port), ...OPTIONS, ...options], { env: { ...process.env, ...env }, stdio: "ignore" });
    const model = new RealModel(child, `http://127.0.0.1:${port}`);
    const loaded = async () => {
      if (child.exitCode !== null) throw new Error(`the model's server has ended with ${child.exitCode}`);
      return model.#get("/health").then(({ ok }) => ok || undefined, () => undefined);
    };
    await until("the model to be loaded", loaded);
    return model;
  }

  /** Waits until it works on nothing; when that was. */
  idle(): Promise<number> {
    return until("the model to be idle", async () => {
      const slots = (await (await this.#get("/slots")).json()) as { is_processing: boolean }[];
      return slots.every(({ is_processing }) => !is_processing) ? Date.now() : undefined;
    });
  }

  async end(): Promise<void> {
    const ended = new Promise((resolve) => this.#process.once("exit", resolve));
    this.#process.kill("SIGKILL");
    await ended;
  }

  #get(path: string): Promise<Response> {
    return fetch(`${this.#url}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
