// What a page catches, made of built-ins of our own.
//
// Owns the forms of errors. Must never say more than what arrived.

import { CapturedError, defineProperty } from "./builtins.ts";

/** A descriptor that inherits nothing: a page may have given all objects a `get`. */
export const shown = (value: unknown): PropertyDescriptor => ({ __proto__: null, value, enumerable: true }) as PropertyDescriptor;

/** An error with a `code`, as `window.agent` and `window.ai` have them. */
export function failure(code: unknown, message: unknown, details?: unknown): Error {
  const error = new CapturedError(`${message}`);
  defineProperty(error, "code", shown(`${code}`));
  if (details !== undefined) defineProperty(error, "details", shown(details));
  return error;
}

/** What arrived as a failure, as an error. */
export function failureOf(value: unknown): Error {
  const { code, message, details } = value as { [name: string]: unknown };
  return failure(code, message, details);
}
