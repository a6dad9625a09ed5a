// What a page may ask for, and how its world is connected with the content script's.
//
//   page's world:      listens for CHANNEL on document ◄─┐ one event, dispatched before the page's first script runs; it carries
//   content script:    new MessageChannel() ─────────────┘ the port on which everything goes from then on (shared/ports/wire.ts)
//
// Owns these names. Must never trust what comes on the port: a page that has got at it can ask for what it may, and no more.

/** The name of the port, and of the event that hands it over. */
export const CHANNEL = "harbor_web_agent";

/** Of what a page may ask for: what the content script answers itself, of the page's forms that are tools. */
export const FORM_REQUESTS = ["forms", "form_run"] as const;

/** What a page may ask for: a plain list, which is left out of scripts that do not use it. */
export const PAGE_REQUESTS = [
  "request_permissions", "permissions", "capabilities", "list", "call", "browser",
  "model_state", "prompt", "providers", "active_provider", "open_settings",
  "run", "run_answer", "session_create", "session_get", "session_list", "session_end",
] as const;
export type PageRequestType = (typeof PAGE_REQUESTS)[number] | (typeof FORM_REQUESTS)[number];

/**
 * Whose `LanguageModel` an origin has, where the person has said so. always: ours; unavailable: ours where the browser's own says that it
 * is unavailable; never: the browser's own, or none. Of other origins: ours where the browser has none.
 */
export const PREFERENCES = ["always", "unavailable", "never"] as const;
export type Preference = (typeof PREFERENCES)[number];

/** With these codes nobody has answered: there is no Harbor, or it is not running. Any other code is an answer. */
export const NOBODY = ["ERR_HARBOR_NOT_FOUND", "ERR_BRIDGE_NOT_CONNECTED", "ERR_VERSION_MISMATCH"] as const;

/** The largest arguments of a call, in characters of JSON: with what stands around them they fit a frame of 1 MiB. */
export const MAX_ARGS = 300_000;

/** The longest task of a run, in characters. */
export const MAX_TASK = 250_000;

/** The largest conversation of a prompt, in bytes of JSON: it has to fit a frame of 1 MiB with what stands around it. */
export const MAX_PROMPT = 900_000;

/** How many bytes a text has in UTF-8. Uses no built-in, so that it holds in the page's world, too. */
export function bytesOf(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] as string;
    // Of four bytes each half of a pair has two.
    const isHalf = letter >= "\ud800" && letter <= "\udfff";
    bytes += letter < "\u0080" ? 1 : letter < "\u0800" || isHalf ? 2 : 3;
  }
  return bytes;
}

/** Whether a prompt as JSON is larger than that. */
export function isTooLarge(body: string): boolean {
  return body.length > MAX_PROMPT || (body.length * 3 > MAX_PROMPT && bytesOf(body) > MAX_PROMPT);
}

/** How deep arguments may be nested: beyond any form of a tool, and far below what programs on the way cannot copy. */
export const MAX_DEPTH = 1_000;

/** Whether a JSON text is nested deeper. Uses no built-in, so that it holds in the page's world, too. */
export function isDeep(json: string): boolean {
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at += 1) {
    const letter = json[at];
    if (quoted) {
      if (letter === "\\") at += 1;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "[" || letter === "{") {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if (letter === "]" || letter === "}") depth -= 1;
  }
  return false;
}
