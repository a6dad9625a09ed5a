// What a page's scripts ask of servers, and what these answer, within bounds; it runs in the page's own world, as `own_world.ts` does.
//
// Owns the list. It is in the page's hands: whoever reads it treats it as text of the page. Must never keep anything where it was not
// said to, nor hold an answer back from the page.

import { MOST_OF_BODY } from "./commands.ts";
import type { Instead } from "./own_effects.ts";

export interface Body {
  method: string;
  /** Where the answer came from. */
  url: string;
  request: string;
  response: string;
}

/** So many are kept. */
const MOST = 50;

/** `unknown`: nobody has said yet. */
export type Keeps = "yes" | "no" | "unknown";

const IS_TEXT = /^(text\/|application\/([\w.-]+\+)?(json|xml|javascript|x-www-form-urlencoded|graphql)|multipart\/form-data)/i;

const cut = (text: string): string => text.slice(0, MOST_OF_BODY);

/** What is sent, where it is a text. */
function sentOf(body: unknown): string {
  if (body === undefined || body === null) return "";
  if (typeof body === "string") return cut(body);
  if (body instanceof URLSearchParams) return cut(body.toString());
  if (body instanceof FormData) return cut([...body].map(([name, value]) => `${name}=${typeof value === "string" ? value : "(a file)"}`).join("\n"));
  return "(no text)";
}

export class Bodies {
  readonly list: Body[] = [];
  readonly #keeps: () => Keeps;

  /** `keeps`: whether they are to be kept, as far as that is known. */
  constructor(keeps: () => Keeps) {
    this.#keeps = keeps;
  }

  begin(instead: Instead): void {
    this.#watchFetch(instead);
    this.#watchRequests(instead);
  }

  /** Its place in the list is by when it was answered. */
  #add(body: Body): Body {
    this.list.push(body);
    if (this.list.length > MOST) this.list.shift();
    return body;
  }

  #watchFetch(instead: Instead): void {
    const { fetch } = window;
    instead(window, "fetch", (...how: Parameters<typeof fetch>) => {
      if (this.#keeps() === "no") return fetch.apply(window, how);
      const [what, { method, body } = {}] = how;
      const asked = what instanceof Request ? what : undefined;
      // Its body can be read once.
      const sent = body === undefined && asked !== undefined && asked.method !== "GET" && asked.method !== "HEAD" ? asked.clone().text().then(cut, () => "(no text)") : Promise.resolve(sentOf(body));
      const answer = fetch.apply(window, how);
      answer.then((response) => void this.#answered(response, method ?? asked?.method ?? "GET", sent), () => undefined);
      return answer;
    });
  }

  async #answered(response: Response, method: string, sent: Promise<string>): Promise<void> {
    const isText = response.body !== null && IS_TEXT.test(response.headers.get("content-type") ?? "");
    if (this.#keeps() === "no" || response.type === "opaque" || response.type === "opaqueredirect" || response.bodyUsed) return;
    const copy = isText ? response.clone() : undefined;
    const kept = this.#add({ method: method.toUpperCase(), url: response.url, request: "", response: isText ? "" : "(no text)" });
    kept.request = await sent;
    await read(copy, kept).catch(() => undefined);
  }

  #watchRequests(instead: Instead): void {
    const { open, send } = XMLHttpRequest.prototype;
    const methods = new WeakMap<XMLHttpRequest, string>();
    const told = (request: XMLHttpRequest, sent: string) => {
      if (this.#keeps() === "no" || request.responseURL === "") return;
      const { responseType } = request;
      const response = responseType === "" || responseType === "text" ? request.responseText : responseType === "json" ? JSON.stringify(request.response) : "(no text)";
      this.#add({ method: methods.get(request) ?? "GET", url: request.responseURL, request: sent, response: cut(response) });
    };
    const keeps = this.#keeps;
    instead(XMLHttpRequest.prototype, "open", function (this: XMLHttpRequest, ...how: unknown[]) {
      methods.set(this, String(how[0]).toUpperCase());
      return (open as (...how: unknown[]) => void).apply(this, how);
    } as typeof open);
    instead(XMLHttpRequest.prototype, "send", function (this: XMLHttpRequest, ...how: Parameters<typeof send>) {
      if (keeps() !== "no") {
        const sent = sentOf(how[0]);
        this.addEventListener("loadend", () => told(this, sent), { once: true });
      }
      return send.apply(this, how);
    });
  }
}

/** As it comes, no more than is kept: an answer may have no end. */
async function read(copy: Response | undefined, kept: Body): Promise<void> {
  const reader = copy?.body?.getReader();
  if (reader === undefined) return;
  const decoder = new TextDecoder();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    kept.response += decoder.decode(piece.value, { stream: true });
    if (kept.response.length < MOST_OF_BODY) continue;
    kept.response = cut(kept.response);
    await reader.cancel();
    return;
  }
}
