// The switches of `web-agents-api`, as the panel shows them: what pages may ask for at all.
//
// Pure. Must never say that one is on which was not told to be.

import type { Fields } from "../shared/ports/wire.ts";
import { isFields } from "../shared/ports/wire.ts";
import { CodedError } from "../shared/protocol/codes.ts";

export type PageFlags = { [flag: string]: boolean };

/** One that the person has switched; nothing: only to look. */
export function parseFlagChange({ flag, on }: Fields): { flag?: string; on?: boolean } {
  if (flag === undefined) return {};
  if (typeof flag !== "string" || typeof on !== "boolean") throw new CodedError("ERR_INVALID_REQUEST", "a switch is its name, and whether it is on");
  return { flag, on };
}

/** Reads the answer. Throws where there is none: that extension is missing, or older. */
export function parseFlagsAnswer(answer: unknown): { flags: PageFlags } {
  const { flags } = isFields(answer) ? answer : { flags: undefined };
  if (!isFields(flags)) throw new CodedError("ERR_HARBOR_NOT_FOUND", "the extension Web Agents API is missing, or is older than this one: install it, or reload it");
  return { flags: Object.fromEntries(Object.entries(flags).filter((one): one is [string, boolean] => typeof one[1] === "boolean")) };
}
