// Where a page may have Harbor lead a tab: the rules of the browser tools, with the person's lists as the bridge has them in force.
//
// Owns the answers that the person gave about sites, in memory. Must never open what the lists keep from tools, or where these cannot be read.

import { CodedError } from "../shared/protocol/codes.ts";
import { hostsOf, saidOf } from "./page/hosts.ts";

/** What is asked outside of here. */
export interface Asked {
  /** The text of `get_config`. */
  config(): Promise<unknown>;
  /** Asks the person whether a site may be opened for an origin; nothing where they do not answer. */
  aboutSite(origin: string, host: string, signal: AbortSignal): Promise<boolean | undefined>;
}

export class Addresses {
  readonly #asked: Asked;
  /** Origin and host, for which the person has said yes. */
  readonly #allowed = new Set<string>();

  constructor(asked: Asked) {
    this.#asked = asked;
  }

  /** The address as a browser reads it; throws where no tab may go there for this origin. */
  async judged(origin: string, text: string, signal: AbortSignal): Promise<string> {
    const url = plain(text);
    if (url === "about:blank") return url;
    const hosts = hostsOf(await this.#asked.config());
    if (hosts === undefined) throw new CodedError("ERR_PERMISSION_DENIED", "which sites the person keeps from tools is not known now");
    const said = saidOf(url, hosts);
    if (said === "blocked") throw new CodedError("ERR_PERMISSION_DENIED", "the person keeps this site from tools");
    if (said === "askFirst") await this.#ask(origin, new URL(url).hostname, signal);
    return url;
  }

  async #ask(origin: string, host: string, signal: AbortSignal): Promise<void> {
    const key = `${origin} ${host}`;
    if (this.#allowed.has(key)) return;
    if ((await this.#asked.aboutSite(origin, host, signal)) !== true) throw new CodedError("ERR_PERMISSION_DENIED", "the person has not allowed to open this site");
    this.#allowed.add(key);
  }
}

/** http, https and the empty page only, and nobody's name or password. */
function plain(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new CodedError("ERR_INVALID_REQUEST", "url must be a whole address, https://…");
  if (url.href === "about:blank") return url.href;
  if (!/^https?:$/.test(url.protocol)) throw new CodedError("ERR_PERMISSION_DENIED", "tabs are led to http and https addresses only");
  if (url.username !== "" || url.password !== "") throw new CodedError("ERR_PERMISSION_DENIED", "an address with a user name or password is not opened");
  return url.href;
}
