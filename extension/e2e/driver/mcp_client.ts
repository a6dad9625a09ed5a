// An AI client: MCP's official SDK at `harbor mcp`.
//
// Owns its process. Must never speak to Harbor another way.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BIN, type Harbor, SERVERS } from "./harbor.ts";

/** Whom it speaks to: a program, the command of it that serves, its environment, and the `node_modules` that have the SDK. */
export interface Place {
  program: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  packages: string;
}

/** What a tool gave. */
export interface Given {
  text: string;
  isError: boolean;
  structured: { [name: string]: any };
  images: { mimeType: string; data: string }[];
  resources: { uri: string; mimeType: string; text?: string; blob?: string }[];
}

export class McpClient {
  readonly #client: any;

  private constructor(client: any) {
    this.#client = client;
  }

  static of({ env }: Harbor, name: string, ...more: string[]): Promise<McpClient> {
    return McpClient.start({ program: join(BIN, "harbor"), args: ["mcp", "--client", name, ...more], env, packages: join(SERVERS, "npm/node_modules") }, name);
  }

  static async start({ program, args, env, packages }: Place, name: string): Promise<McpClient> {
    const sdk = (file: string) => import(pathToFileURL(join(packages, "@modelcontextprotocol/sdk/dist/esm/client", file)).href);
    const [{ Client }, { StdioClientTransport }] = await Promise.all([sdk("index.js"), sdk("stdio.js")]);
    const client = new Client({ name, version: "1" });
    await client.connect(new StdioClientTransport({ command: program, args, env, stderr: "ignore" }));
    return new McpClient(client);
  }

  async tools(): Promise<{ name: string }[]> {
    return (await this.#client.listTools()).tools;
  }

  /** Calls a tool; what fails is given, too. */
  async call(name: string, args: object = {}): Promise<Given> {
    const { content = [], isError = false, structuredContent = {} } = await this.#client.callTool({ name, arguments: args });
    return {
      text: content.filter(({ type }: { type: string }) => type === "text").map(({ text }: { text: string }) => text).join("\n"),
      isError,
      structured: structuredContent,
      images: content.filter(({ type }: { type: string }) => type === "image"),
      resources: content.filter(({ type }: { type: string }) => type === "resource").map(({ resource }: { resource: object }) => resource),
    };
  }

  async end(): Promise<void> {
    await this.#client.close();
  }
}
