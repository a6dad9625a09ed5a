// Forms that are tools: `<form toolname tooldescription>`, whose controls are its parameters.
//
//   forms ─► name, description, schema of each       form_run ─► filled in ─┬─ toolautosubmit ─► submitted ─► answer
//                                                                          └─ else: the person submits it, or resets it ─► answer
//
// Owns how a form becomes a schema, and how it is filled in. Runs in the content script's world, where no page has replaced anything; a control
// may still have the name of a form's property, so these are read from the prototype. Must never fill in a password or a file, or say that a form
// was submitted which was not.

import type { Handler } from "../shared/ports/answerer.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { MOST_OWN, wrong } from "../shared/protocol/runs.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** By their types: what nobody fills in. */
const LEFT_OUT = ["hidden", "submit", "button", "reset", "image", "file", "password", "fieldset", "output"];
const NUMBERS = ["number", "range"];
const FORMATS: { [type: string]: string } = { date: "date", time: "time", "datetime-local": "date-time", email: "email", url: "uri" };
const LONGEST_WORDS = 500;

const methods = HTMLFormElement.prototype;
const isList = (one: Control): one is HTMLSelectElement => one.type.startsWith("select");
const attributeOf = (element: Element, name: string) => Element.prototype.getAttribute.call(element, name);

interface FormTool {
  form: HTMLFormElement;
  name: string;
  description: string;
}

export const forms: Handler = async (type, payload, { signal }) => {
  if (type === "forms") return found().map(({ form, name, description }) => ({ name, description, inputSchema: JSON.stringify(schemaOf(controlsOf(form))) }));
  const tool = found().find(({ name }) => name === payload["name"]);
  if (tool === undefined) throw new CodedError("ERR_TOOL_NOT_FOUND", "there is no such form");
  const { form } = tool;
  // It is the page that fills in its own form.
  fill(controlsOf(form), Object(JSON.parse(String(payload["args"]))) as { [name: string]: unknown });
  await submitted(form, attributeOf(form, "toolautosubmit") !== null, signal);
  return null;
};

/** Those with a name and a description; of two with one name, the first. */
function found(): FormTool[] {
  const all: FormTool[] = [];
  for (const form of document.querySelectorAll<HTMLFormElement>("form[toolname][tooldescription]")) {
    const [name = "", description = ""] = ["toolname", "tooldescription"].map((one) => attributeOf(form, one) ?? "");
    if (/^[\w.-]{1,128}$/.test(name) && description !== "" && !all.some((one) => one.name === name)) all.push({ form, name, description });
    if (all.length === MOST_OWN) break;
  }
  return all;
}

/** What can be filled in, by name. Buttons of a choice, and boxes of a set, have one name together. */
function controlsOf(form: HTMLFormElement): Map<string, Control[]> {
  const named = new Map<string, Control[]>();
  for (const one of Reflect.get(methods, "elements", form) as Iterable<Control>) {
    // Elements of the page's own making have no type.
    if (!one.name || one.disabled || !one.type || LEFT_OUT.includes(one.type)) continue;
    named.set(one.name, [...(named.get(one.name) ?? []), one]);
  }
  return named;
}

function schemaOf(controls: Map<string, Control[]>): object {
  const properties = Object.fromEntries([...controls].map(([name, all]) => [name, { ...typeOf(all), ...wordsOf(all) }]));
  const required = [...controls].filter(([, all]) => all.some((one) => one.required)).map(([name]) => name);
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

function typeOf(all: Control[]): object {
  const [one] = all as [Control];
  const of = (from: Iterable<{ value: string }>, isMany = false) => {
    const choice = { type: "string", enum: Array.from(from, ({ value }) => value) };
    return isMany ? { type: "array", items: choice } : choice;
  };
  if (isList(one)) return of(one.options, one.multiple);
  if (one.type === "radio") return of(all);
  if (one.type === "checkbox") return all.length > 1 ? of(all, true) : { type: "boolean" };
  if (NUMBERS.includes(one.type)) {
    const { min, max } = one as HTMLInputElement;
    return { type: "number", ...(min === "" ? {} : { minimum: Number(min) }), ...(max === "" ? {} : { maximum: Number(max) }) };
  }
  const format = FORMATS[one.type];
  return { type: "string", ...(format === undefined ? {} : { format }) };
}

function wordsOf(all: Control[]): { description?: string } {
  const said = all.map((one) => attributeOf(one, "toolparamdescription")).find((words) => words !== null) ?? (all.length === 1 ? all[0]?.labels?.[0]?.textContent : undefined);
  const description = said?.trim().slice(0, LONGEST_WORDS);
  return description === undefined || description === "" ? {} : { description };
}

const stateOf = (one: Control) => `${(one as HTMLInputElement).checked}${isList(one) ? Array.from(one.selectedOptions, ({ index }) => index) : one.value}`;

/** Fills in what is given; throws before the first change where something does not fit. */
function fill(controls: Map<string, Control[]>, given: { [name: string]: unknown }): void {
  const wanted = Object.entries(given).map(([name, value]) => {
    const all = controls.get(name);
    if (all === undefined) throw wrong(name, "a control of the form");
    const { enum: one, items } = typeOf(all) as { enum?: string[]; items?: { enum: string[] } };
    const choices = one ?? items?.enum;
    const values = (Array.isArray(value) ? value : [value]).map(String);
    if (choices && !values.every((choice) => choices.includes(choice))) throw wrong(name, choices.join());
    return { all, value, values, isChoice: choices !== undefined };
  });
  for (const { all, value, values, isChoice } of wanted) {
    for (const one of all) {
      const before = stateOf(one);
      if (isList(one)) for (const option of one.options) option.selected = values.includes(option.value);
      else if (one.type === "radio" || one.type === "checkbox") (one as HTMLInputElement).checked = isChoice ? values.includes(one.value) : value === true;
      else one.value = String(value);
      if (stateOf(one) !== before) for (const type of ["input", "change"]) one.dispatchEvent(new Event(type, { bubbles: true }));
    }
  }
}

/** Until it is. By the page's own means, or by the person. */
function submitted(form: HTMLFormElement, isAuto: boolean, signal: AbortSignal): Promise<void> {
  if (isAuto && !methods.checkValidity.call(form)) throw wrong("the form", "valid");
  const over = new AbortController();
  return new Promise<void>((resolve, reject) => {
    const on = (type: string, end: () => void) => window.addEventListener(type, (event) => event.target === form && end(), { capture: true, signal: over.signal });
    on("submit", resolve);
    on("reset", () => reject(new CodedError("ERR_CANCELLED", "the form was reset")));
    signal.addEventListener("abort", () => reject(signal.reason), { signal: over.signal });
    if (isAuto) methods.requestSubmit.call(form);
  }).finally(() => over.abort());
}
