// What a page catches, made of built-ins of our own.
//
// Owns the forms of errors, and which of the standard's names a code has. Must never say more than what arrived.

import { CapturedDOMException, CapturedError, CapturedPromise, CapturedTypeError, defineProperty, native } from "./builtins.ts";

/** A descriptor that inherits nothing: a page may have given all objects a `get`. */
export const shown = (value: unknown): PropertyDescriptor => ({ __proto__: null, value, enumerable: true }) as PropertyDescriptor;

/** An error with a `code`, as `window.agent` and `window.ai` have them. */
export function failure(code: unknown, message: unknown, details?: unknown): Error {
  const error = new CapturedError(`${message}`);
  defineProperty(error, "code", shown(`${code}`));
  if (details !== undefined) defineProperty(error, "details", shown(details));
  return error;
}

/** What a page gives is wrong, or too large. */
export const invalid = (message: string): Error => failure("ERR_INVALID_REQUEST", message);

/** What arrived as a failure, as an error. */
export function failureOf(value: unknown): Error {
  const { code, message, details } = value as { [name: string]: unknown };
  return failure(code, message, details);
}

/** What this gives; what it throws at once rejects, too. */
export function attempt<T>(begin: () => Promise<T>): Promise<T> {
  try {
    return begin();
  } catch (error) {
    return new CapturedPromise((_, reject) => reject(error));
  }
}

/** A member of what a page has thrown, which may be anything. */
export function memberOf(thrown: unknown, name: string): unknown {
  try {
    return (thrown as { [name: string]: unknown } | null)?.[name];
  } catch {
    return undefined;
  }
}

/** What it says. */
export function textOfError(thrown: unknown): string {
  try {
    return `${memberOf(thrown, "message") ?? thrown}`;
  } catch {
    return "it failed";
  }
}

export const wrong = (message: string): TypeError => new CapturedTypeError(message);

export const domError = (name: string, message: string): DOMException => new CapturedDOMException(message, name);

/** What a page wants, and no model of Harbor's does. */
export const notSupported = (message: string): DOMException => domError("NotSupportedError", message);

/** The model has failed; `details.cause` says why. */
export const modelFailed = (message: unknown, details?: unknown): Error => failure("ERR_MODEL_FAILED", message, details);

/** The input is larger than what the model looks at. Where the browser has no class for that, it is a DOMException with the same fields. */
export function quotaExceeded(message: string, requested: number, quota: number): DOMException {
  const Class = native.QuotaExceededError as (new (message: string, options: object) => DOMException) | undefined;
  if (typeof Class === "function") return new Class(message, { __proto__: null, requested, quota });
  const error = domError("QuotaExceededError", message);
  defineProperty(error, "requested", shown(requested));
  defineProperty(error, "quota", shown(quota));
  return error;
}

type Known = Error & { code?: unknown; details?: { [name: string]: unknown } };

/** What a failed prompt is in the standard's words. What is not one of our failures is the page's own, and stays as it is. */
export function standardError(error: unknown): unknown {
  if (!(error instanceof CapturedError)) return error;
  const { code, message, details } = error as Known;
  if (typeof code !== "string") return error;
  const { cause, requested, quota } = details ?? {};
  if (cause === "context_full") return quotaExceeded(message, Number_(requested), Number_(quota));
  return domError(nameOf(code, cause), message);
}

const Number_ = (value: unknown): number => (typeof value === "number" ? value : 0);

function nameOf(code: string, cause: unknown): string {
  switch (code) {
    case "ERR_PERMISSION_DENIED":
    case "ERR_SCOPE_REQUIRED":
    case "ERR_USER_GESTURE_REQUIRED":
    case "ERR_FEATURE_DISABLED":
      return "NotAllowedError";
    // What is wrong by the standard was said before anybody was asked: this is right there, and nothing that Harbor takes.
    case "ERR_INVALID_REQUEST":
      return "NotSupportedError";
    case "ERR_MODEL_FAILED":
      if (cause === "refused") return "NotReadableError";
      return cause === "no_model" || cause === "not_found" ? "NotSupportedError" : "UnknownError";
    default:
      return "UnknownError";
  }
}
