// Which cookies are a page's: those that the browser sends to its site. Pure.
//
// Must never count one that goes to other hosts only, or that a page of this scheme would not get.

import type { CookieView } from "../../shared/browser/cookies.ts";

/** Whether a cookie goes to a site. */
export function isSentTo(site: URL, { domain, isHostOnly, secure }: Pick<CookieView, "domain" | "isHostOnly" | "secure">): boolean {
  if (secure && site.protocol !== "https:") return false;
  return isHostOnly ? site.hostname === domain : isAtOrAbove(domain, site.hostname);
}

/** Whether a domain is a host, or has it below. */
export function isAtOrAbove(domain: string, host: string): boolean {
  return host === domain || (host.endsWith(`.${domain}`) && !isAddress(host));
}

const isAddress = (host: string): boolean => /^[\d.]+$/.test(host) || host.startsWith("[");

/** The domains whose cookies may go to a host, the widest last; a name without a dot has none below it. */
export function domainsOf(host: string): string[] {
  if (isAddress(host)) return [host];
  const labels = host.split(".");
  return labels.map((_, at) => labels.slice(at).join(".")).filter((domain, at) => at === 0 || domain.includes("."));
}

/** A cookie in one line, as servers write them. */
export function lineOf({ name, value, domain, isHostOnly, path, expires, httpOnly, secure, sameSite }: CookieView): string {
  const parts = [`${name}=${value}`, isHostOnly ? `Host=${domain}` : `Domain=${domain}`, `Path=${path}`];
  if (expires !== undefined) parts.push(`Expires=${new Date(expires * 1000).toISOString()}`);
  if (httpOnly) parts.push("HttpOnly");
  if (secure) parts.push("Secure");
  if (sameSite !== undefined) parts.push(`SameSite=${sameSite}`);
  return parts.join("; ");
}
