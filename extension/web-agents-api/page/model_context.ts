// `document.modelContext` where the browser has none: the tools that this page registers for whoever works in it.
//
// Owns these tools. They are this document's, and end with it. Must never read what a tool claims of itself, or run one that was not asked for.

import { CapturedEvent, CapturedEventTarget, CapturedPromise, apply, dispatchTo, freeze, isAborted, isObject, later, listenTo, origin, parse, reasonOf, self_, stringify, then } from "./builtins.ts";
import { Ending, signalIn } from "./endings.ts";
import { domError, notSupported, quotaExceeded, textOfError, wrong } from "./errors.ts";
import { runForm, theForms } from "./forms.ts";
import { add, joined, mapped, placeOf, sequence } from "./lists.ts";
import { named } from "./tools.ts";

type Fields = { [name: string]: unknown };

/** One that is kept; `null` where the page has said nothing. What is an object is kept as JSON. */
interface Kept {
  name: string;
  title: string | null;
  description: string;
  inputSchema: string | null;
  annotations: string | null;
  execute: Function;
}

/** How many tools a page has at most. */
export const MOST_TOOLS = 64;

/** The event comes at most so often, however much a page changes. */
const PAUSE_MS = 1_000;

let kept: Kept[] = [];

class ModelContext extends CapturedEventTarget {
  ontoolchange: unknown = null;

  async registerTool(tool: unknown, options?: Fields): Promise<void> {
    const given = toolOf(tool);
    ofThisDocument(options?.["exposedTo"]);
    const signal = signalIn(options);
    if (placeOf(kept, ({ name }) => name === given.name) >= 0) throw domError("InvalidStateError", `there is a tool ${given.name}`);
    if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
    if (kept.length === MOST_TOOLS) throw quotaExceeded(`a page has at most ${MOST_TOOLS} tools`, MOST_TOOLS + 1, MOST_TOOLS);
    add(kept, given);
    changed();
    if (signal !== undefined) listenTo(signal, "abort", () => unregister(given));
  }

  async getTools(options?: Fields): Promise<object[]> {
    ofThisDocument(options?.["fromOrigins"]);
    return mapped(await everyTool(), ({ name, title, description, inputSchema, annotations }) => freeze({ name, title, description, inputSchema: read(inputSchema), annotations: read(annotations), origin, window: self_ }));
  }

  async executeTool(tool: unknown, input: unknown = {}, options?: Fields): Promise<string> {
    const signal = signalIn(options);
    const { name, origin: whose } = isObject(tool) ? tool : {};
    const args = isObject(input) ? stringify(input) : undefined;
    if (name === undefined || whose === undefined || args === undefined) throw wrong("executeTool takes a tool and an object");
    if (signal !== undefined && isAborted(signal)) throw reasonOf(signal);
    const is = (one: Kept): boolean => one.name === name;
    // What a script has registered begins at once.
    let all = kept;
    if (placeOf(all, is) < 0) all = await everyTool();
    const found = all[placeOf(all, is)];
    if (found === undefined) throw domError("UnknownError", "there is no such tool");
    return await executed(found, args, signal);
  }
}

named(ModelContext, "ModelContext");

/** The one of this document. */
export const context = new ModelContext();

/** Those of scripts, and then those of forms whose names are free. */
async function everyTool(): Promise<Kept[]> {
  const forms = await theForms();
  const all = joined(kept, []);
  for (let at = 0; at < forms.length && all.length < MOST_TOOLS; at += 1) {
    const { name, description, inputSchema } = forms[at] as (typeof forms)[0];
    if (placeOf(all, (one) => one.name === name) < 0) add(all, { name, title: null, description, inputSchema, annotations: null, execute: runForm(name) });
  }
  return all;
}

/** A call of it that is under way goes on. */
function unregister(tool: Kept): void {
  const others: Kept[] = [];
  for (let at = 0; at < kept.length; at += 1) if (kept[at] !== tool) add(others, kept[at] as Kept);
  kept = others;
  changed();
}

/** Whether something was not told; and whether the last word was a moment ago. */
let isDue = false;
let isQuiet = false;

function changed(): void {
  isDue = true;
  if (isQuiet) return;
  isQuiet = true;
  later(tell, 0);
}

function tell(): void {
  isQuiet = isDue;
  if (!isDue) return;
  isDue = false;
  later(tell, PAUSE_MS);
  const event = new CapturedEvent("toolchange");
  dispatchTo(context, event);
  if (typeof context.ontoolchange === "function") apply(context.ontoolchange, context, [event]);
}

/** Tools go to no other document, and come from none. */
function ofThisDocument(origins: unknown): void {
  if (origins !== undefined && sequence(origins)?.length !== 0) throw notSupported("tools are of this document only");
}

/** Reads what a page registers. What it throws is the page's. */
function toolOf(value: unknown): Kept {
  if (!isObject(value)) throw wrong("a tool must be an object");
  const { name, title, description, inputSchema, annotations, execute } = value;
  if (name === undefined || description === undefined || typeof execute !== "function") throw wrong("a tool has a name, a description and execute");
  const tool = { name: `${name}`, title: title === undefined ? null : `${title}`, description: `${description}`, inputSchema: jsonOf(inputSchema), annotations: jsonOf(annotations), execute };
  if (!isName(tool.name) || tool.description === "") throw domError("InvalidStateError", "a tool has a description, and a name of 1 to 128 of A-Z a-z 0-9 _ - .");
  return tool;
}

function jsonOf(value: unknown): string | null {
  if (value === undefined) return null;
  const text = isObject(value) ? stringify(value) : undefined;
  if (text === undefined) throw wrong("inputSchema and annotations must be JSON");
  return text;
}

const read = (text: string | null): unknown => (text === null ? null : parse(text));

function isName(name: string): boolean {
  for (let at = 0; at < name.length; at += 1) {
    const c = name[at] as string;
    if (!((c >= "a" && c <= "z") || (c >= "A" && c <= "Z") || (c >= "0" && c <= "9") || c === "_" || c === "-" || c === ".")) return false;
  }
  return name !== "" && name.length <= 128;
}

/** Runs one; what it gives: a text as it is, else as JSON. */
function executed({ execute }: Kept, args: string, signal: AbortSignal | undefined): Promise<string> {
  const ending = new Ending(signal);
  const work = async (): Promise<string> => {
    const given: unknown = await apply(execute, undefined, [parse(args), { signal: ending.signal }]);
    return typeof given === "string" ? given : stringify(given) ?? "null";
  };
  return new CapturedPromise<string>((resolve, reject) => {
    ending.onEnd(reject);
    then(work(), resolve as (value: unknown) => void, (error) => {
      ending.done();
      reject(domError("UnknownError", textOfError(error)));
    });
  });
}
