// Which pages have an origin that can be allowed something.
//
// Pure. Must never repair an origin: what the browser says is taken as it is, or refused.

/** Hosts that are this machine, and so secure without TLS. */
const LOCAL = ["localhost", "127.0.0.1"];

/** Whether this is the whole, canonical origin of a page over https, or over http of this machine. */
export function isPageOrigin(origin: string): boolean {
  // A host may have a star in it, by the URL standard; in a pattern of addresses it would be every host.
  if (origin.length > 1024 || origin.includes("*") || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  const secure = url.protocol === "https:" || (url.protocol === "http:" && LOCAL.includes(url.hostname));
  return secure && url.origin === origin;
}
