// What a page says to a model: read as the standard reads it, and made into messages.
//
// Owns which input is wrong, and with which error. Must never change what a page gave.

import { canonicalLocales, ceil, isObject } from "./builtins.ts";
import { domError, notSupported, wrong } from "./errors.ts";
import { imageOf } from "./images.ts";
import { add, mapped, placeOf, sequence } from "./lists.ts";
import { bytesOf } from "../../shared/protocol/page.ts";
import { type Answered, LanguageModelToolCall, answeredOf } from "./tools.ts";

/** A message as the bridge takes it (ChatMessage). */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  content?: unknown;
  toolCalls?: { id: string; name: string; arguments: unknown }[];
  toolCallId?: string;
  isError?: boolean;
}

type Part =
  | { type: "text"; text: string }
  | { type: "image"; value: unknown }
  | { type: "call"; call: LanguageModelToolCall }
  | { type: "answered"; answered: Answered };

/** A message that was looked at; its images are not read yet. */
export interface Draft {
  role: "system" | "user" | "assistant";
  parts: Part[];
}

/** What a session takes and gives. */
export interface Expected {
  image: boolean;
  toolResponse: boolean;
  toolCall: boolean;
}

type Fields = { [name: string]: unknown };

const TYPES = ["text", "image", "audio", "tool-call", "tool-response"] as const;

/** Reads expectedInputs and expectedOutputs. `isPossible` is false where no model of ours takes or gives that. */
export function expectedOf(options: Fields): Expected & { isPossible: boolean } {
  const inputs = typesIn(options["expectedInputs"], "expectedInputs");
  const outputs = typesIn(options["expectedOutputs"], "expectedOutputs");
  const has = (list: string[], type: string) => placeOf(list, (one) => one === type) >= 0;
  return {
    image: has(inputs, "image"),
    toolResponse: has(inputs, "tool-response"),
    toolCall: has(outputs, "tool-call"),
    isPossible: !has(inputs, "audio") && !has(outputs, "audio") && !has(outputs, "image"),
  };
}

function typesIn(value: unknown, name: string): string[] {
  if (value === undefined) return [];
  const given = sequence(value);
  if (given === undefined) throw wrong(`${name} must be a sequence`);
  return mapped(given, (one) => {
    if (!isObject(one)) throw wrong(`${name} must hold dictionaries`);
    const { type, languages } = one as Fields;
    if (placeOf(TYPES, (known) => known === `${type}`) < 0) throw wrong(`there is no type ${type}`);
    const tags = languages === undefined ? [] : sequence(languages);
    if (tags === undefined) throw wrong("languages must be a sequence");
    // A RangeError where it is no language.
    canonicalLocales(mapped(tags, (tag) => `${tag}`));
    return `${type}`;
  });
}

/** Reads an input: a text, or messages. `isFirst`: nothing was said before, so that it may begin with a message of the system. */
export function draftsOf(input: unknown, expected: Expected, isFirst: boolean): Draft[] {
  const given = typeof input === "string" ? undefined : sequence(input);
  if (given === undefined) return [{ role: "user", parts: [{ type: "text", text: `${input}` }] }];
  return mapped(given, (one, at) => draftOf(one, expected, { mayBeSystem: isFirst && at === 0, isLast: at === given.length - 1 }));
}

function draftOf(value: unknown, expected: Expected, place: { mayBeSystem: boolean; isLast: boolean }): Draft {
  if (!isObject(value)) throw wrong("a message must be a dictionary");
  const { role, content, prefix } = value as Fields;
  const name = `${role}`;
  if (name !== "system" && name !== "user" && name !== "assistant") throw wrong("role must be system, user or assistant");
  if (content === undefined) throw wrong("a message must have content");
  if (name === "system" && !place.mayBeSystem) throw wrong("only the first message can be the system's");
  if (prefix && (name !== "assistant" || !place.isLast)) throw domError("SyntaxError", "prefix is allowed only for a last message of the assistant");
  // Newer models refuse to go on with an answer, and others begin a new one.
  if (prefix) throw notSupported("models do not continue a given beginning of their answer");
  const parts = typeof content === "string" ? undefined : sequence(content);
  if (parts === undefined) return { role: name, parts: [{ type: "text", text: `${content}` }] };
  return { role: name, parts: mapped(parts, (part) => partOf(part, name, expected)) };
}

function partOf(part: unknown, role: Draft["role"], expected: Expected): Part {
  if (!isObject(part)) throw wrong("content must hold dictionaries");
  const { type, value } = part as Fields;
  if (placeOf(TYPES, (known) => known === `${type}`) < 0) throw wrong(`there is no type ${type}`);
  if (value === undefined) throw wrong("content must have a value");
  switch (type) {
    case "text":
      if (typeof value === "object" || typeof value === "function") throw domError("SyntaxError", "text must be a string");
      return { type, text: `${value}` };
    case "image":
      if (typeof value !== "object") throw domError("SyntaxError", "the value of an image must be an image");
      if (role !== "user" || !expected.image) throw notSupported("images are allowed only in messages of the user, in sessions that expect them");
      return { type, value };
    case "tool-call":
      if (role !== "assistant" || !(value instanceof LanguageModelToolCall)) throw notSupported("a tool-call must be a LanguageModelToolCall in a message of the assistant");
      return { type: "call", call: value };
    case "tool-response":
      if (role !== "user" || !expected.toolResponse) throw notSupported("a tool-response is allowed only in sessions that expect it");
      return { type: "answered", answered: answeredOf(value) };
    default:
      throw notSupported(`${type} is not taken`);
  }
}

/** The messages of drafts, with their images read. */
export async function messagesOf(drafts: readonly Draft[]): Promise<Message[]> {
  const messages: Message[] = [];
  for (let at = 0; at < drafts.length; at += 1) await putMessages(messages, drafts[at] as Draft);
  return messages;
}

async function putMessages(messages: Message[], { role, parts }: Draft): Promise<void> {
  const content: { type: string; text?: string; mediaType?: string; data?: string }[] = [];
  const toolCalls: { id: string; name: string; arguments: unknown }[] = [];
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] as Part;
    if (part.type === "text") add(content, { type: "text", text: part.text });
    if (part.type === "image") add(content, { type: "image", ...(await imageOf(part.value)) });
    if (part.type === "call") add(toolCalls, { id: part.call.callID, name: part.call.name, arguments: part.call.arguments });
    if (part.type === "answered") {
      const { callId, text, isError } = part.answered;
      add(messages, { role: "tool", toolCallId: callId, content: text, ...(isError ? { isError } : {}) });
    }
  }
  const calls = toolCalls.length > 0 ? { toolCalls } : {};
  const isAnswer = content.length === 0 && toolCalls.length === 0 && parts.length > 0;
  if (isAnswer) return;
  const single = content.length === 1 ? content[0]?.text : undefined;
  add(messages, { role, content: single ?? (content.length === 0 ? "" : content), ...calls });
}

/** So many bytes of a text are a token, as the bridge estimates them; and what an image and a message count as. */
const BYTES = 3;
const OF_AN_IMAGE = 1_600;
const AROUND = 4;

/** About how many tokens messages have, where nobody has counted. */
export function estimateOf(messages: readonly Message[]): number {
  let tokens = 0;
  for (let at = 0; at < messages.length; at += 1) {
    const { content } = messages[at] as Message;
    tokens += AROUND;
    if (typeof content === "string") tokens += ofText(content);
    else if (content !== undefined) tokens += ofParts(content as { text?: unknown }[]);
  }
  return tokens;
}

function ofParts(parts: readonly { text?: unknown }[]): number {
  let tokens = 0;
  for (let at = 0; at < parts.length; at += 1) {
    const text = parts[at]?.text;
    tokens += typeof text === "string" ? ofText(text) : OF_AN_IMAGE;
  }
  return tokens;
}

/** By its bytes in UTF-8, as the bridge has it. */
const ofText = (text: string): number => tokensOf(bytesOf(text));

export const tokensOf = (bytes: number): number => ceil(bytes / BYTES);
