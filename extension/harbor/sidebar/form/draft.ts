// What a person has typed into a form, and the arguments that it makes.
//
// Pure. A draft is changed by the controls, each its own box. Must never send what was not said: an empty field that is not needed
// is left out.

import { isFields } from "../../../shared/ports/wire.ts";
import { type Field, type Plan, planOf } from "./schema.ts";

/** A text of a control; items; or members by name, in the order of the fields. */
export type Draft = { text: string } | { items: Item[] } | { members: Draft[] };

export interface Item {
  /** Which one it is, wherever it stands. */
  key: number;
  draft: Draft;
}

/** What is wrong, by the box that it is in. */
export type Problems = ReadonlyMap<Draft, string>;

/** So many boxes a form begins with. A schema of a few bytes can ask for millions, by lists in lists and by defaults. */
export const MOST_BOXES = 300;

/** Of items that have to be there so many are made. */
const MOST_MISSING = 20;

/** So many choices weigh as much as a box. */
const CHOICES_OF_A_BOX = 20;

/** What is left of the boxes that one form may have. */
interface Room {
  left: number;
  /** Whether defaults are filled in. */
  defaults: boolean;
}

class TooMany extends Error {}

let lastKey = 0;

/** A form as one field, so that it has a draft like any other. */
export function whole(fields: Field[]): Field {
  return { is: "group", fields, name: "", title: "", about: undefined, required: true, initial: undefined };
}

/** What a trial of a tool begins with: its form, or JSON where there is none, or would be too large. */
export function begun(inputSchema: unknown): { plan: Plan; draft: Draft } {
  const plan = planOf(inputSchema);
  const draft = draftOf(whole(plan.is === "form" ? plan.fields : []));
  if (draft !== undefined) return { plan, draft };
  return { plan: { is: "json", why: "its form would be too large" }, draft: { members: [] } };
}

/** An item of a list, not filled in. Where its defaults are too many it comes without them. */
export function newItem(field: Field, initial: unknown = field.initial): Item {
  const draft = roomy(() => boxOf(field, initial, { left: MOST_BOXES, defaults: true }, true));
  return itemOf(draft ?? boxOf(field, undefined, { left: Infinity, defaults: false }, true));
}

/** A form as it is before anybody has typed; `undefined`: it would be too large. */
export function draftOf(field: Field, initial: unknown = field.initial): Draft | undefined {
  return roomy(() => boxOf(field, initial, { left: MOST_BOXES, defaults: true }, false));
}

function roomy(make: () => Draft): Draft | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof TooMany)) throw error;
    return undefined;
  }
}

function itemOf(draft: Draft): Item {
  lastKey += 1;
  return { key: lastKey, draft };
}

/** `inList`: it is part of an item. Items that have to be there are made in the outer list only. */
function boxOf(field: Field, initial: unknown, room: Room, inList: boolean): Draft {
  room.left -= field.is === "choice" ? 1 + Math.floor(field.choices.length / CHOICES_OF_A_BOX) : 1;
  if (room.left < 0) throw new TooMany();
  switch (field.is) {
    case "group": {
      const values = isFields(initial) ? initial : {};
      const own = (name: string) => (Object.hasOwn(values, name) ? values[name] : undefined);
      const valueOf = (one: Field) => own(one.name) ?? (room.defaults ? one.initial : undefined);
      return { members: field.fields.map((one) => boxOf(one, valueOf(one), room, inList)) };
    }
    case "list":
      return { items: itemsOf(field, initial, room, inList) };
    case "choice": {
      const wanted = JSON.stringify(initial);
      const at = field.choices.findIndex((choice) => JSON.stringify(choice) === wanted);
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

function itemsOf(field: Extract<Field, { is: "list" }>, initial: unknown, room: Room, inList: boolean): Item[] {
  const { item, required, min } = field;
  const given: unknown[] = Array.isArray(initial) ? initial : [];
  const missing = inList || !required ? 0 : Math.max(0, Math.min(min, MOST_MISSING) - given.length);
  const values = [...given.slice(0, MOST_BOXES + 1), ...Array.from({ length: missing }, () => item.initial)];
  return values.map((value) => itemOf(boxOf(item, value, room, true)));
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
    return isFields(args) ? args : "This must be an object: { … }";
  } catch (error) {
    return `This is not JSON: ${error instanceof Error ? error.message : ""}`;
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
    if (field.required) problems.set(draft, "This is required");
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
  if (items.length < field.min) problems.set(draft, `At least ${field.min} must be given`);
  if (items.length > field.max) problems.set(draft, `At most ${field.max} can be given`);
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
        return { problem: 'This must be JSON: put a text in "quotation marks"' };
      }
    default:
      return { is: text };
  }
}

function numberValue({ integer, min, max }: Extract<Field, { is: "number" }>, text: string): { is: number } | { problem: string } {
  const number = Number(text);
  if (!Number.isFinite(number)) return { problem: "This must be a number" };
  if (integer && !Number.isSafeInteger(number)) return { problem: "This must be a whole number" };
  if (min !== undefined && number < min) return { problem: `This must be ${min} or more` };
  if (max !== undefined && number > max) return { problem: `This must be ${max} or less` };
  return { is: number };
}

function isEmpty(draft: Draft): boolean {
  if ("text" in draft) return draft.text.trim() === "";
  if ("items" in draft) return draft.items.length === 0;
  return draft.members.every(isEmpty);
}
