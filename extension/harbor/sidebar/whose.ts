// Whose words a text of the bridge is: Harbor's own, or such as a server may have had a part in.
//
// Pure. Must never call a text Harbor's own that a server, its package or its schema can have written into: what is not known here is not.

import { isFields } from "../../shared/ports/wire.ts";
import type { Failure } from "../../shared/protocol/codes.ts";

/** `harbor`: Harbor's alone. `server`: a server's alone. `mixed`: Harbor's, and perhaps a server's within. `other`: nobody's that could deceive, or unknown. */
export interface Words {
  whose: "harbor" | "server" | "mixed" | "other";
  text: string;
}

/** Codes whose messages Harbor alone writes, and that may name commands. */
const OWN_CODES = [
  "unauthorized",
  "version_mismatch",
  "bridge_unreachable",
  "shutting_down",
  "secrets_locked",
  "ERR_HARBOR_NOT_FOUND",
  "ERR_BRIDGE_NOT_CONNECTED",
  "ERR_VERSION_MISMATCH",
];

/** Codes whose messages may quote a server: its answer, its schema, how it ended, what it wants. */
const MIXED_CODES = [
  "connection_failed",
  "ERR_SERVER_UNAVAILABLE",
  "ERR_TOOL_FAILED",
  "ERR_PROTOCOL_ERROR",
  "ERR_AUTHORIZATION_REQUIRED",
  "ERR_AUTHORIZATION_FAILED",
];

/** Ends whose messages Harbor alone writes: numbers, its own limits, and names of secrets. */
const OWN_ENDS = [
  "exited",
  "signalled",
  "out_of_memory",
  "too_many_processes",
  "disk_full",
  "closed_stdout",
  "timeout",
  "missing_secrets",
  "secrets_locked",
  "secrets_unreadable",
  "runner_lost",
];

/** Codes that repeat how a server has ended. */
const CODES_OF_ENDS = ["connection_failed", "ERR_SERVER_UNAVAILABLE"];

/** Whose words say what went wrong. */
export function wordsOf({ code, message, details }: Failure): Words {
  const { message: said, reason, cause } = isFields(details) ? details : ({} as { [name: string]: unknown });
  if (code === "ERR_TOOL_FAILED" && typeof said === "string") return { whose: "server", text: said };
  if (OWN_CODES.includes(code)) return { whose: "harbor", text: message };
  if (CODES_OF_ENDS.includes(code) && typeof cause === "string") return wordsOfEnd({ cause, message });
  // Of arguments the reason is what the server's schema says.
  if (MIXED_CODES.includes(code) || (code === "invalid_params" && reason !== undefined)) return { whose: "mixed", text: message };
  return { whose: "other", text: message };
}

/** Whose words say how a server has ended. */
export function wordsOfEnd({ cause, message }: { cause: string; message: string }): Words {
  return { whose: OWN_ENDS.includes(cause) ? "harbor" : "mixed", text: message };
}
