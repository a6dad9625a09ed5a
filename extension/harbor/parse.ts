// Texts of pages that have to be JSON.
//
// Pure. Must never tell what was wrong in more than a sentence.

import { CodedError } from "../shared/protocol/codes.ts";

/** Reads an object. */
export function parseObject(field: string, text: string): { [name: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [name: string]: unknown };
  } catch {
    // Said below.
  }
  throw new CodedError("ERR_INVALID_REQUEST", `${field} must be an object`);
}
