// What can be done by `/`: things of the chat, and the prompts of servers.
//
// Owns the list. A prompt of a server is somebody else's text: it comes into the field, where the person sees it before it is sent.

import { CodedError } from "../../../shared/protocol/codes.ts";
import { isFields } from "../../../shared/ports/wire.ts";
import type { Hands } from "../hands.ts";
import type { Composer } from "./composer.ts";
import { put } from "./field.ts";

export interface Action {
  name: string;
  words: string;
  run(): void;
}

interface Prompt {
  server: string;
  name: string;
  words: string;
  /** Names of its arguments that have to be given. */
  needs: string[];
}

/** Prompts of running servers; absent: not asked yet. */
let prompts: Prompt[] | undefined;

export function actionsOf(hands: Hands, doing: Composer): Action[] {
  if (prompts === undefined) void loadPrompts(hands);
  const own: Action[] = [
    { name: "new", words: "Begin another chat", run: () => (put(""), hands.go({ at: "chat" })) },
    { name: "history", words: "Search your chats", run: () => (put(""), hands.go({ at: "chats" })) },
    { name: "models", words: "Choose or add models", run: () => (put(""), hands.go({ at: "models" })) },
    { name: "tools", words: "See your servers", run: () => (put(""), hands.go({ at: "servers" })) },
  ];
  return [...own, ...(prompts ?? []).map((prompt) => actionOf(hands, prompt)), ...(doing.actions?.() ?? [])];
}

function actionOf(hands: Hands, { server, name, words, needs }: Prompt): Action {
  const run = () => {
    put("");
    hands.act("prompt", async () => {
      if (needs.length > 0) throw new CodedError("ERR_INVALID_REQUEST", `This prompt needs ${needs.join(", ")}. Try it from a client that can ask for these.`);
      const { prompt } = await hands.ask("mcp_get_prompt", { server_id: server, prompt_name: name });
      put(textOf(prompt));
    });
  };
  return { name: `${server}.${name}`.toLowerCase(), words, run };
}

/** The text of a prompt's messages. */
export function textOf(prompt: unknown): string {
  const { messages } = isFields(prompt) ? prompt : ({} as { messages?: unknown });
  const texts = (Array.isArray(messages) ? messages : []).flatMap((message) => {
    const { content } = isFields(message) ? message : ({} as { content?: unknown });
    return isFields(content) && typeof content["text"] === "string" ? [content["text"]] : [];
  });
  return texts.join("\n\n");
}

async function loadPrompts(hands: Hands): Promise<void> {
  prompts = [];
  const running = (hands.state.servers ?? []).filter(({ state }) => state === "running");
  const lists = await Promise.all(running.map(({ server_id }) => hands.ask("mcp_list_prompts", { server_id }).then(({ prompts: list }) => promptsOf(server_id, list), () => [])));
  prompts = lists.flat();
  hands.change({});
}

/** Servers have changed: their prompts are asked for anew. */
export function forgetPrompts(): void {
  prompts = undefined;
}

/** A server's prompts, as far as they can be read. */
export function promptsOf(server: string, list: unknown): Prompt[] {
  return (Array.isArray(list) ? list : []).filter(isFields).flatMap((one) => {
    const { name, description, arguments: args } = one;
    if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) return [];
    const needs = (Array.isArray(args) ? args : []).filter(isFields).filter(({ required }) => required === true).map((arg) => String(arg["name"]));
    return [{ server, name, words: typeof description === "string" ? description : `A prompt of ${server}`, needs }];
  });
}
