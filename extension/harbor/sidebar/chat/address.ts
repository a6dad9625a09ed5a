// Addresses in answers: which of them may be links, and which carry something away.
//
// Pure. Must never open one.

const OPENED = ["http:", "https:", "mailto:"];

/** What is longer than this may hold anything. */
const LONG_PATH = 200;
const LONG_HOST = 100;
const LONG_LABEL = 40;

/** So many letters and digits without a break are no word. */
const ENCODED = /[A-Za-z0-9+_=%]{32,}/;

export interface Address {
  url: string;
  /** Where it leads, in ASCII: a host, or who gets the mail. */
  to: string;
  /** True if a visit could tell the other side what stands in this chat. */
  carriesData: boolean;
}

/** The address that a link may have, if it is one that a person may be led to. */
export function addressOf(href: string): Address | undefined {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return undefined;
  }
  if (!OPENED.includes(url.protocol)) return undefined;
  const to = url.protocol === "mailto:" ? url.pathname : url.host;
  return to === "" ? undefined : { url: url.href, to, carriesData: carries(url) };
}

function carries({ username, password, search, hash, pathname, hostname }: URL): boolean {
  if (username + password + search + hash !== "") return true;
  if (pathname.length > LONG_PATH || hostname.length > LONG_HOST) return true;
  return pathname.split("/").some((part) => ENCODED.test(part)) || hostname.split(".").some((label) => label.length > LONG_LABEL);
}

/** True if a text is the address itself, so that it hides nothing. */
export function saysAddress(text: string, { url, to }: Address): boolean {
  if (/^https?:\/\/[^/]*@/.test(url)) return false;
  const bare = url.replace(/^(?:https?:\/\/|mailto:)/, "");
  const known = [url, bare, url.replace(/\/$/, ""), bare.replace(/\/$/, "")];
  return text === to || known.includes(text);
}
