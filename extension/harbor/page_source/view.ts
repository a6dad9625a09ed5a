// The tools of the page beside the panel, as the panel shows them.
//
// Pure. Owns these forms.

import { type Fields, isFields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";

/** What the panel asks the background: how many tools the page of a tab has; with `on`: and switches its site. */
export const PAGE_TOOLS = "page_tools";

export interface PageToolsView {
  tab: number;
  /** How many there are; none where the page may not be looked at. */
  tools: number;
  /** Whether the chat and AI apps may use them. */
  on: boolean;
  /** What the bridge calls them. */
  source?: string;
  /** Why it has not taken them. */
  problem?: string;
}

export interface PageToolsChange {
  tab: number;
  /** The site that is switched. */
  origin?: string;
  on?: boolean;
  /** The page is looked at before the answer; otherwise what is new follows it. */
  look?: boolean;
}

export function parsePageToolsChange({ tab, origin, on, look }: Fields): PageToolsChange {
  if (typeof tab !== "number" || !Number.isSafeInteger(tab)) throw new CodedError("ERR_INVALID_REQUEST", "tab must be a tab's id");
  return { tab, ...(typeof origin === "string" ? { origin } : {}), ...(typeof on === "boolean" ? { on } : {}), look: look === true };
}

/** Reads what the background says; `undefined`: nothing. */
export function parsePageTools(value: unknown): PageToolsView | undefined {
  return isFields(value) && typeof value["tab"] === "number" && typeof value["tools"] === "number" ? (value as unknown as PageToolsView) : undefined;
}
