// Tools of a page's own, as a session of a model has them.
//
// Owns how they are read, and the classes with which a page that runs them itself gives and takes. Who has `execute` on all of them and
// expects no calls has them run by the session ("closed"); else the page gets the calls ("open"). Must never reach a tool of the person's.

import { apply, defineProperty, isArray, parse, stringify, toStringTag, isObject } from "./builtins.ts";
import { domError, notSupported, shown, textOfError, wrong } from "./errors.ts";
import { add, mapped, placeOf, sequence } from "./lists.ts";

/** As it goes to the model. */
export interface Tool {
  name: string;
  description: string;
  inputSchema: unknown;
}

export interface Tools {
  declared: readonly Tool[];
  /** By the same places; `undefined`: the page gets the calls. */
  execute: readonly ((input: unknown) => unknown)[] | undefined;
}

type Fields = { [name: string]: unknown };

/** A call of a model. */
export interface Call {
  id: string;
  name: string;
  arguments: unknown;
}

/** Reads `tools`. `wantsCalls`: the page says that it expects them. */
export function toolsOf(value: unknown, wantsCalls: boolean): Tools {
  if (value === undefined) return { declared: [], execute: undefined };
  const given = sequence(value);
  if (given === undefined) throw wrong("tools must be a sequence of tools");
  const declared: Tool[] = [];
  const execute: ((input: unknown) => unknown)[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const tool = declaredTool(given[at]);
    if (placeOf(declared, ({ name }) => name === tool.name) >= 0) throw wrong(`two tools have the name ${tool.name}`);
    add(declared, tool);
    const run = (given[at] as Fields)["execute"];
    if (run !== undefined && typeof run !== "function") throw wrong("execute must be a function");
    if (run !== undefined) add(execute, run as (input: unknown) => unknown);
  }
  if (wantsCalls) return { declared, execute: undefined };
  if (execute.length < declared.length) throw wrong("tools without `execute` need { type: 'tool-call' } in expectedOutputs");
  return { declared, execute };
}

function declaredTool(value: unknown): Tool {
  if (!isObject(value)) throw wrong("a tool must be an object");
  const { name, description, inputSchema } = value as Fields;
  if (name === undefined || `${name}` === "") throw wrong("a tool must have a name");
  if (description === undefined || `${description}` === "") throw wrong("a tool must have a description");
  if (!isObject(inputSchema)) throw wrong("a tool's inputSchema must be an object");
  const { type, properties, required } = inputSchema as Fields;
  if (type !== "object") throw wrong("a tool's inputSchema must have the type 'object'");
  if (properties !== undefined && (!isObject(properties))) throw wrong("properties must be an object");
  if (required !== undefined && !isArray(required)) throw wrong("required must be an array");
  // What it throws is the page's.
  return { name: `${name}`, description: `${description}`, inputSchema: parse(stringify(inputSchema)) };
}

/** Runs a call; what its function throws becomes what the model is told. */
export async function ran({ declared, execute }: Tools, call: Call): Promise<{ text: string; isError: boolean }> {
  const at = placeOf(declared, ({ name }) => name === call.name);
  const run = execute?.[at];
  if (run === undefined) return { text: `there is no tool ${call.name}`, isError: true };
  try {
    return { text: textOf(await apply(run, undefined, [call.arguments])), isError: false };
  } catch (error) {
    return { text: textOfError(error), isError: true };
  }
}

function textOf(result: unknown): string {
  if (typeof result === "string") return result;
  return stringify(result) ?? "undefined";
}

/** Shows as `name` where somebody looks: the code as it is sent has names of its own. */
export function named(Class: { prototype: object }, name: string): void {
  defineProperty(Class, "name", { __proto__: null, value: name, configurable: true } as PropertyDescriptor);
  defineProperty(Class.prototype, toStringTag, { __proto__: null, value: name, configurable: true } as PropertyDescriptor);
}

function dictionary(value: unknown): Fields {
  if (!isObject(value)) throw wrong("a dictionary is needed");
  return value as Fields;
}

function needed(fields: Fields, name: string): string {
  if (fields[name] === undefined) throw wrong(`${name} is needed`);
  return `${fields[name]}`;
}

/** Gives one of the classes below a member, which its maker has to name. */
const put = (one: object, name: string, fields: Fields): unknown => defineProperty(one, name, shown(needed(fields, name)));

/** A model wants a tool to be called. */
export class LanguageModelToolCall {
  declare readonly callID: string;
  declare readonly name: string;
  declare readonly arguments: unknown;

  constructor(options: unknown) {
    const fields = dictionary(options);
    put(this, "callID", fields);
    put(this, "name", fields);
    defineProperty(this, "arguments", shown(fields["arguments"] ?? {}));
  }
}

/** What a call came to. */
export class LanguageModelToolSuccess {
  declare readonly callID: string;
  declare readonly name: string;
  declare readonly result: readonly { type: string; value: unknown }[];

  constructor(options: unknown) {
    const fields = dictionary(options);
    const given = sequence(fields["result"]);
    if (given === undefined) throw wrong("result must be a sequence");
    const result = mapped(given, (one) => {
      const part = dictionary(one);
      return { type: needed(part, "type"), value: part["value"] };
    });
    put(this, "callID", fields);
    put(this, "name", fields);
    defineProperty(this, "result", shown(result));
  }
}

/** Why a call came to nothing. */
export class LanguageModelToolError {
  declare readonly callID: string;
  declare readonly name: string;
  declare readonly errorMessage: string;

  constructor(options: unknown) {
    const fields = dictionary(options);
    put(this, "callID", fields);
    put(this, "name", fields);
    put(this, "errorMessage", fields);
  }
}

named(LanguageModelToolCall, "LanguageModelToolCall");
named(LanguageModelToolSuccess, "LanguageModelToolSuccess");
named(LanguageModelToolError, "LanguageModelToolError");

/** What a page says of a call, for the model. */
export interface Answered {
  callId: string;
  text: string;
  isError: boolean;
}

/** Reads a tool-response; throws a DOMException where it holds what no model is told. */
export function answeredOf(value: unknown): Answered {
  if (value instanceof LanguageModelToolError) return { callId: value.callID, text: value.errorMessage, isError: true };
  if (!(value instanceof LanguageModelToolSuccess)) throw wrong("a tool-response is a LanguageModelToolSuccess or a LanguageModelToolError");
  let text = "";
  for (let at = 0; at < value.result.length; at += 1) {
    const part = value.result[at] as { type: string; value: unknown };
    if (part.type === "image" || part.type === "audio") throw notSupported(`${part.type} is not allowed in a tool's result`);
    if (part.type !== "text" && part.type !== "object") throw wrong(`there is no type ${part.type}`);
    text += (at > 0 ? "\n" : "") + dataOf(part.value);
  }
  return { callId: value.callID, text, isError: false };
}

function dataOf(value: unknown): string {
  if (typeof value === "string") return value;
  let text: string | undefined;
  try {
    text = stringify(value);
  } catch {
    // Said below.
  }
  // An object of the browser's has nothing of its own to be written.
  const isEmpty = text === "{}" && `${value}` !== "[object Object]";
  if (text === undefined || isEmpty) throw domError("DataError", "JSON must be able to express a tool's result");
  return text;
}
