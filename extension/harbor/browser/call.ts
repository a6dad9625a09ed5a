// A call of a browser tool, as the bridge sends it, and what it is answered.
//
// Owns the forms. Must never read a field that was not looked at.

import { RE2JS } from "re2js";
import { type Fields, isFields } from "../../shared/ports/wire.ts";

/** A call. `session.tabs` are this session's by the bridge's word; `session.tab_id` is the one meant. */
export interface Call {
  call_id: string;
  source_id: string;
  session_id: string;
  tool_name: string;
  arguments: Fields;
  timeout_ms: number;
  session: { label: string; colour: string; tabs: number[]; tab_id?: number };
}

export function parseCall(fields: Fields): Call | undefined {
  const { call_id, source_id, session_id, tool_name, timeout_ms, session } = fields;
  if (typeof call_id !== "string" || typeof source_id !== "string" || typeof session_id !== "string" || typeof tool_name !== "string") return undefined;
  if (!isFields(session)) return undefined;
  const tabs = Array.isArray(session["tabs"]) ? session["tabs"].filter((tab) => typeof tab === "number") : [];
  const { label, colour, tab_id } = session;
  return {
    ...{ call_id, source_id, session_id, tool_name },
    arguments: isFields(fields["arguments"]) ? fields["arguments"] : {},
    timeout_ms: typeof timeout_ms === "number" ? timeout_ms : 60_000,
    session: {
      label: typeof label === "string" ? label : "Harbor",
      colour: typeof colour === "string" ? colour : "blue",
      tabs,
      ...(typeof tab_id === "number" ? { tab_id } : {}),
    },
  };
}

/** A tool could not do what it was asked: said to the model as an error, with what to do. */
export class ToolError extends Error {}

/** The bridge has said no to where a tab was going, or to what is there. */
export class DeniedError extends ToolError {}

/** What arguments there are, by their kinds. The bridge has checked them against the tool's schema. */
export const texts = (fields: Fields, name: string): string | undefined => (typeof fields[name] === "string" ? (fields[name] as string) : undefined);
export const numbers = (fields: Fields, name: string): number | undefined => (typeof fields[name] === "number" ? (fields[name] as number) : undefined);
export const isOn = (fields: Fields, name: string): boolean => fields[name] === true;
export const lists = (fields: Fields, name: string): string[] =>
  Array.isArray(fields[name]) ? (fields[name] as unknown[]).filter((entry) => typeof entry === "string") : [];

/** A place in an element, from its upper left corner. */
export function placesIn(fields: Fields, name: string): { x: number; y: number } | undefined {
  const given = fields[name];
  if (!isFields(given)) return undefined;
  const [x, y] = [numbers(given, "x"), numbers(given, "y")];
  if (x === undefined || y === undefined) throw new ToolError(`${name} needs x and y, in pixels of the page`);
  return { x, y };
}

/**
 * Whether a text fits a pattern of the model's. RE2 takes time in proportion to the text; the browser's own engine can be held up for ever by
 * a pattern of a few letters. Only the beginning of a long text is looked at.
 */
export function fits(name: string, pattern: string, flags: string): (text: string) => boolean {
  try {
    const regex = RE2JS.compile(RE2JS.translateRegExp(pattern), [...flags].reduce((all, flag) => all | (FLAGS[flag] ?? 0), 0));
    return (text) => regex.matcher(text.slice(0, 1_000)).find();
  } catch (error) {
    throw new ToolError(`${name} is not a regular expression of RE2, which has neither lookaround nor backreferences: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const FLAGS: { [flag: string]: number } = { i: RE2JS.CASE_INSENSITIVE, m: RE2JS.MULTILINE, s: RE2JS.DOTALL };

/** A text, or a secret of the person's in place of one: the bridge has put it in, with the site that it is kept for. */
export function textOrSecret(fields: Fields, name: string): { text: string; site?: string } {
  const given = fields[name];
  if (!isFields(given)) return { text: needed(fields, name) };
  return { text: needed(given, "value"), site: needed(given, "site") };
}

export function needed(fields: Fields, name: string): string {
  const found = texts(fields, name);
  if (found === undefined) throw new ToolError(`the argument ${name} is missing`);
  return found;
}
