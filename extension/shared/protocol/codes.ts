// The codes by which a page learns what went wrong.
//
// Owns their names and how a code of the bridge reads to a page. Must never let through a text that is not meant for pages.

import type { Code } from "./generated/messages.ts";

/** Codes of the extensions, besides those of the bridge that begin with `ERR_`. */
export type ExtensionCode =
  | "ERR_INVALID_REQUEST"
  | "ERR_USER_GESTURE_REQUIRED"
  | "ERR_HARBOR_NOT_FOUND"
  | "ERR_BRIDGE_NOT_CONNECTED"
  | "ERR_VERSION_MISMATCH"
  | "ERR_SESSION_NOT_FOUND"
  | "ERR_CANCELLED";

/** What the `code` of an error says to a page. */
export type PageCode = Extract<Code, `ERR_${string}`> | ExtensionCode;

/** What went wrong, in the form in which it travels. */
export interface Failure {
  code: string;
  message: string;
  details?: unknown;
}

/** A failure as an exception. */
export class CodedError extends Error {
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown) {
    super(message);
    this.name = "CodedError";
    this.code = code;
    this.details = details;
  }
}

const OF_BRIDGE = new Map<string, PageCode>([
  ["invalid_message", "ERR_INVALID_REQUEST"],
  ["invalid_params", "ERR_INVALID_REQUEST"],
  ["message_too_large", "ERR_INVALID_REQUEST"],
  ["cancelled", "ERR_CANCELLED"],
  ["not_found", "ERR_TOOL_NOT_FOUND"],
  ["not_connected", "ERR_SERVER_UNAVAILABLE"],
  ["connection_failed", "ERR_SERVER_UNAVAILABLE"],
  ["unauthorized", "ERR_BRIDGE_NOT_CONNECTED"],
  ["bridge_unreachable", "ERR_BRIDGE_NOT_CONNECTED"],
  ["shutting_down", "ERR_BRIDGE_NOT_CONNECTED"],
  ["version_mismatch", "ERR_VERSION_MISMATCH"],
]);

/** The code that a page sees. Whatever is unknown is an internal failure. */
export function pageCode(code: string): string {
  return code.startsWith("ERR_") ? code : (OF_BRIDGE.get(code) ?? "ERR_INTERNAL");
}

/** An exception as it travels. An exception that is not ours may say what nobody meant for others: only its kind goes on. */
export function failureOf(error: unknown): Failure {
  if (error instanceof CodedError) {
    const { code, message, details } = error;
    return details === undefined ? { code, message } : { code, message, details };
  }
  return { code: "ERR_INTERNAL", message: "the extension failed; its console says more" };
}

/** Reads what travelled. */
export function parseFailure(value: unknown): Failure {
  const { code, message, details } = Object(value) as { [name: string]: unknown };
  const failure: Failure = {
    code: typeof code === "string" ? code : "ERR_INTERNAL",
    message: typeof message === "string" ? message : "no reason was given",
  };
  if (details !== undefined) failure.details = details;
  return failure;
}

export function errorOf({ code, message, details }: Failure): CodedError {
  return new CodedError(code, message, details);
}
