// A provider of models that says back what it is asked, over OpenAI's wire: what tests and measurements ask instead of a model.
//
// Owns its port, and knows who has left in the middle of an answer. What it does is in the last thing that it is told:
//
//   anything         says that back, letter for letter in pieces of a few; where a schema is given, the least that fits it
//   <many N>         N pieces, `0 1 2 …`, as fast as they are taken;  <rate N S>  N in a second, S seconds long
//   <hang>           one piece, and nothing more; <silent>: not even that
//   <cut>            one piece, and the connection ends; <full>: longer than its window; <refuse>: will not say it
//   <GenerateSimpleToolCalls>, <GenerateMultipleToolCalls>   says the rest, and calls the first tool, or all, with the arguments that stand
//                    behind `Args: ` in their descriptions
//   <say TEXT>       TEXT, and nothing else
//   <roles>          the roles of the conversation, in their order; <last tool>: what the last result of a tool was
//
// A test may write a script for it instead: one step for each time that it is asked.

import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Schema, leastOf } from "../../mock/least.ts";
import { until } from "./browser.ts";
import type { Harbor } from "./harbor.ts";

interface Message {
  role: string;
  content?: string | { type: string; text?: string; image_url?: { url: string } }[] | null;
  tool_calls?: unknown[];
}

interface Body {
  messages: Message[];
  stream?: boolean;
  tools?: { function: { name: string; description?: string } }[];
  response_format?: { json_schema?: { schema?: unknown } };
  [name: string]: unknown;
}

type Delta = { [name: string]: unknown };

/** What it does when it is asked: calls a tool, or says something. `told`: what it was told last. */
export type Step = (told: string) => Promise<{ tool: string; args: object } | string>;

export class Echo {
  readonly #server: Server;
  /** How many tokens its model takes. */
  readonly #window: number;
  /** What it was asked. */
  readonly asked: Body[] = [];
  /** How many pieces the longest of its answers has had so far. */
  longest = 0;
  /** What it does first, a step each time. */
  readonly script: Step[] = [];
  /** The next askers are refused, each for so many seconds. */
  readonly limits: number[] = [];
  /** When askers have left before the end. */
  readonly left: number[] = [];

  /** The key without which it answers nobody. */
  readonly #key: string | undefined;
  /** What it says that its model can, as llama-server does. */
  readonly #props: object | undefined;

  private constructor(window: number, key?: string, props?: object) {
    this.#window = window;
    this.#key = key;
    this.#props = props;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** One that a Harbor knows as `echo`, and uses where none is named. */
  static async start(harbor: Harbor, name = "echo", window = 4096): Promise<Echo> {
    const echo = await Echo.listen({ window });
    await harbor.cli("models", "add", "openai-compatible", "--name", name, "--url", echo.url);
    await harbor.cli("models", "default", `${name}:echo`);
    return echo;
  }

  /** One that no Harbor knows yet. Fails where the port is taken. */
  static async listen({ window = 4096, key, port = 0, props }: { window?: number; key?: string; port?: number; props?: object } = {}): Promise<Echo> {
    const echo = new Echo(window, key, props);
    await new Promise<void>((resolve, reject) => echo.#server.once("error", reject).listen(port, "127.0.0.1", resolve));
    // A test that fails before it ends this ends all the same.
    echo.#server.unref();
    return echo;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  /** Waits until so many have left in the middle; when the last of them did. */
  leaving(times: number): Promise<number> {
    return until(`${times} to have left`, async () => (this.left.length >= times ? this.left[times - 1] : undefined));
  }

  /** Waits until it was asked so often. */
  asking(times: number): Promise<true> {
    return until(`being asked ${times} times`, async () => this.asked.length >= times || undefined);
  }

  async end(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, value: unknown) => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (this.#key !== undefined && request.headers.authorization !== `Bearer ${this.#key}`) return json(401, { error: { message: "No such key: make one at the harbour master's", code: "invalid_api_key" } });
    // By its owner llama-server is known where it is looked for.
    if (request.url === "/v1/models") return json(200, { object: "list", data: [{ id: "echo", object: "model", owned_by: "llamacpp", max_model_len: this.#window }] });
    if (this.#props !== undefined && request.url?.startsWith("/props")) return json(200, this.#props);
    if (request.url !== "/v1/chat/completions") return json(404, { error: { message: "nothing here" } });
    let text = "";
    for await (const piece of request.setEncoding("utf8")) text += piece;
    const body = JSON.parse(text) as Body;
    this.asked.push(body);
    response.on("close", () => {
      if (!response.writableFinished) this.left.push(Date.now());
    });
    const limit = this.limits.shift();
    if (limit !== undefined) {
      response.setHeader("retry-after", String(limit));
      return json(429, { error: { message: "Slow down: the harbour is full", code: "rate_limit_exceeded" } });
    }
    if (/<full>/.test(lastOf(body.messages))) return json(400, { error: { message: "too long", code: "context_length_exceeded" } });
    let said = 0;
    const step = await this.script.shift()?.(lastOf(body.messages));
    await speak(body, response, step, () => {
      said += 1;
      this.longest = Math.max(this.longest, said);
    });
  }
}

/** What was said last, as a text. */
function lastOf(messages: Message[]): string {
  const content = messages.filter(({ role }) => role !== "system").at(-1)?.content ?? "";
  return typeof content === "string" ? content : content.map(({ text, image_url }) => text ?? `[image of ${image_url?.url.length} letters]`).join("");
}

async function speak(body: Body, response: ServerResponse, step: Awaited<ReturnType<Step>> | undefined, saying: () => void): Promise<void> {
  const told = lastOf(body.messages);
  const said = { text: 0 };
  const send = (delta: Delta, finish: string | null = null, more: object = {}) => {
    said.text += String(delta["content"] ?? "").length;
    saying();
    const chunk = { id: "e", object: "chat.completion.chunk", model: "echo", choices: [{ index: 0, delta, finish_reason: finish }], ...more };
    return new Promise<void>((resolve) => response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => resolve()));
  };
  if (/<silent>/.test(told)) return;
  response.writeHead(200, { "content-type": "text/event-stream" });
  await send({ role: "assistant", content: "" });
  const finish = step === undefined ? await sayAll(told, body, send, response) : await play(step, body, send);
  if (finish === undefined) return;
  await send({}, finish);
  const usage = { prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4), completion_tokens: Math.ceil(said.text / 4) };
  await send({}, null, { choices: [], usage });
  response.end("data: [DONE]\n\n");
}

/** Does what the script says. Tools are called by the names that Harbor has given them. */
async function play(step: Awaited<ReturnType<Step>>, body: Body, send: (delta: Delta) => Promise<void>): Promise<string> {
  if (typeof step === "string") {
    await send({ content: step });
    return "stop";
  }
  const name = body.tools?.find(({ function: { name } }) => name.endsWith(step.tool))?.function.name ?? step.tool;
  await send({ tool_calls: [{ index: 0, id: `call_${body.messages.length}`, type: "function", function: { name, arguments: JSON.stringify(step.args) } }] });
  return "tool_calls";
}

/** Says it; the reason why it ends, or `undefined` where it does not. */
async function sayAll(told: string, body: Body, send: (delta: Delta) => Promise<void>, response: ServerResponse): Promise<string | undefined> {
  const many = /<many (\d+)>/.exec(told);
  if (many !== null) for (let at = 0; at < Number(many[1]) && !response.destroyed; at += 1) await send({ content: `${at} ` });
  const rate = /<rate (\d+) (\d+)>/.exec(told);
  if (rate !== null) await paced(Number(rate[1]), Number(rate[2]), (text) => send({ content: text }), response);
  if (many !== null || rate !== null) return "stop";
  if (/<hang>|<cut>/.test(told)) await send({ content: "and" });
  if (/<cut>/.test(told)) response.destroy();
  if (/<hang>|<cut>/.test(told)) return undefined;
  if (/<refuse>/.test(told)) return "content_filter";
  const call = /<Generate(Simple|Multiple)ToolCalls>/.exec(told);
  const said = call === null ? answerTo(told, body) : told.replace(call[0], "");
  for (const piece of said.match(/[^]{1,7}/gu) ?? []) await send({ content: piece });
  if (call === null || body.tools === undefined) return "stop";
  for (const [index, tool] of body.tools.slice(0, call[1] === "Simple" ? 1 : undefined).entries()) {
    const { name, description = "" } = tool.function;
    const args = /Args: (\{[^}]*\})/.exec(description)?.[1] ?? '{"input":"text"}';
    await send({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: { name, arguments: args } }] });
  }
  return "tool_calls";
}

function answerTo(told: string, { messages, response_format }: Body): string {
  const said = /<say ([^]*)>/.exec(told);
  if (said !== null) return said[1] ?? "";
  if (/<roles>/.test(told)) return messages.map(({ role }) => role).join(" ");
  const schema = response_format?.json_schema?.schema;
  return schema === undefined ? told : JSON.stringify(leastOf(schema as Schema));
}

/** So many pieces a second, each with the time at which it was said. */
async function paced(rate: number, seconds: number, say: (text: string) => Promise<void>, response: ServerResponse): Promise<void> {
  const begun = Date.now();
  for (let sent = 0; sent < rate * seconds && !response.destroyed; ) {
    const due = Math.min(rate * seconds, Math.floor(((Date.now() - begun) / 1000) * rate) + 1);
    while (sent < due) {
      await say(`${sent}@${Date.now()} `);
      sent += 1;
    }
    await new Promise((next) => setTimeout(next, 1));
  }
}
