// Prompts of servers: what of their lists and answers can be read.
//
// Pure. All texts are a server's. Must never throw on what a server wrote.

import { isFields } from "../../../shared/ports/wire.ts";

export interface PromptArgument {
  name: string;
  about: string | undefined;
  needed: boolean;
}

export interface Prompt {
  server: string;
  name: string;
  words: string;
  takes: PromptArgument[];
}

/** A prompt whose arguments the person fills in. `missing`: names of those that it needs and has not got. */
export interface Filling {
  prompt: Prompt;
  missing: string[];
}

/** A server's prompts, as far as they can be read. */
export function promptsOf(server: string, list: unknown): Prompt[] {
  return (Array.isArray(list) ? list : []).filter(isFields).flatMap((one) => {
    const { name, description, arguments: args } = one;
    if (typeof name !== "string" || !/^[\w.-]{1,100}$/.test(name)) return [];
    const takes = (Array.isArray(args) ? args : []).filter(isFields).flatMap(argumentOf);
    return [{ server, name, words: typeof description === "string" ? description : `A prompt of ${server}`, takes }];
  });
}

function argumentOf({ name, description, required }: { [name: string]: unknown }): PromptArgument[] {
  if (typeof name !== "string" || name === "") return [];
  return [{ name, about: typeof description === "string" ? description : undefined, needed: required === true }];
}

/** What is sent of what was typed, by the arguments' places; or which of them are missing. */
export function argumentsOf({ takes }: Prompt, typed: string[]): { args: { [name: string]: string }; missing: string[] } {
  const pairs = takes.map(({ name, needed }, at) => ({ name, needed, text: typed[at] ?? "" }));
  const missing = pairs.filter(({ needed, text }) => needed && text.trim() === "").map(({ name }) => name);
  return { args: Object.fromEntries(pairs.filter(({ text }) => text !== "").map(({ name, text }) => [name, text])), missing };
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
