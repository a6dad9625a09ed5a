// What a person has typed into a form, and the arguments that it makes.
//
// Pure. A draft is changed by the controls, each its own box. Must never send what was not said: an empty field that is not needed
// is left out.

import { isFields } from "../../../shared/ports/wire.ts";
import type { Field } from "./schema.ts";

/** A text of a control; items; or members by name, in the order of the fields. */
export type Draft = { text: string } | { items: Item[] } | { members: Draft[] };

export interface Item {
  /** Which one it is, wherever it stands. */
  key: number;
  draft: Draft;
}

/** What is wrong, by the box that it is in. */
export type Problems = ReadonlyMap<Draft, string>;

let lastKey = 0;

/** An item of a list, not filled in. */
export function newItem(field: Field, initial: unknown = field.initial): Item {
  lastKey += 1;
  return { key: lastKey, draft: draftOf(field, initial) };
}

/** A form as it is before anybody has typed. */
export function draftOf(field: Field, initial: unknown = field.initial): Draft {
  switch (field.is) {
    case "group": {
      const values = isFields(initial) ? initial : {};
      const own = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
      return { members: field.fields.map((one) => draftOf(one, own(one.name) ?? one.initial)) };
    }
    case "list": {
      const given = Array.isArray(initial) ? initial : [];
      const missing = Math.max(0, (field.required ? Math.min(field.min, 20) : 0) - given.length);
      return { items: [...given.map((value) => newItem(field.item, value)), ...Array.from({ length: missing }, () => newItem(field.item))] };
    }
    case "choice": {
      const at = field.choices.findIndex((choice) => JSON.stringify(choice) === JSON.stringify(initial));
      const only = field.required && field.choices.length === 1;
      return { text: at >= 0 ? String(at) : only ? "0" : "" };
    }
    case "yes_no":
      return { text: typeof initial === "boolean" ? String(initial) : field.required ? "false" : "" };
    case "json":
      return { text: initial === undefined ? "" : JSON.stringify(initial, null, 2) };
    case "number":
      return { text: typeof initial === "number" ? String(initial) : "" };
    case "text":
      return { text: typeof initial === "string" ? initial : "" };
  }
}

/** The arguments, or what is wrong with them. */
export function argumentsOf(fields: Field[], draft: Draft): { args?: { [name: string]: unknown }; problems: Problems } {
  const problems = new Map<Draft, string>();
  const args = members(fields, draft, problems);
  return problems.size > 0 ? { problems } : { args, problems };
}

/** Arguments that were typed as JSON. */
export function parseArguments(text: string): { [name: string]: unknown } | string {
  try {
    const args: unknown = JSON.parse(text.trim() === "" ? "{}" : text);
    return isFields(args) ? args : "This has to be an object: { … }";
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : ""}`;
  }
}

const NOTHING = Symbol("nothing");

function members(fields: Field[], draft: Draft, problems: Map<Draft, string>): { [name: string]: unknown } {
  const boxes = "members" in draft ? draft.members : [];
  const pairs = fields.flatMap((field, at) => {
    const box = boxes[at];
    const value = box === undefined ? NOTHING : valueOf(field, box, problems);
    return value === NOTHING ? [] : [[field.name, value] as const];
  });
  return Object.fromEntries(pairs);
}

function valueOf(field: Field, draft: Draft, problems: Map<Draft, string>): unknown {
  if (field.is === "group") {
    if (!field.required && isEmpty(draft)) return NOTHING;
    return members(field.fields, draft, problems);
  }
  if (field.is === "list") return listValue(field, draft, problems);
  const text = "text" in draft ? draft.text : "";
  if (text.trim() === "" && !(field.is === "text" && text !== "")) {
    if (field.required) problems.set(draft, "This is needed");
    return NOTHING;
  }
  const value = plainValue(field, text);
  if (!("problem" in value)) return value.is;
  problems.set(draft, value.problem);
  return NOTHING;
}

function listValue(field: Extract<Field, { is: "list" }>, draft: Draft, problems: Map<Draft, string>): unknown {
  const items = "items" in draft ? draft.items : [];
  if (items.length === 0 && !field.required) return NOTHING;
  if (items.length < field.min) problems.set(draft, `There have to be ${field.min}`);
  if (items.length > field.max) problems.set(draft, `There may be ${field.max}`);
  return items.map((item) => valueOf(field.item, item.draft, problems));
}

function plainValue(field: Field, text: string): { is: unknown } | { problem: string } {
  switch (field.is) {
    case "number":
      return numberValue(field, text);
    case "yes_no":
      return { is: text === "true" };
    case "choice":
      return { is: field.choices[Number(text)] };
    case "json":
      try {
        return { is: JSON.parse(text) };
      } catch {
        return { problem: 'This has to be JSON: a text stands in "quotation marks"' };
      }
    default:
      return { is: text };
  }
}

function numberValue({ integer, min, max }: Extract<Field, { is: "number" }>, text: string): { is: number } | { problem: string } {
  const number = Number(text);
  if (!Number.isFinite(number)) return { problem: "This has to be a number" };
  if (integer && !Number.isSafeInteger(number)) return { problem: "This has to be a whole number" };
  if (min !== undefined && number < min) return { problem: `This has to be ${min} or more` };
  if (max !== undefined && number > max) return { problem: `This has to be ${max} or less` };
  return { is: number };
}

function isEmpty(draft: Draft): boolean {
  if ("text" in draft) return draft.text.trim() === "";
  if ("items" in draft) return draft.items.length === 0;
  return draft.members.every(isEmpty);
}
