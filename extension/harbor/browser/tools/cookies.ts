// `browser_cookie_*`: the cookies that the browser sends to the open page's site. The bridge has asked the person, for this client and site.
//
// Must never touch a cookie that this site is not sent, nor do anything where the tab shows another site than the one that was asked about.

import { type CookieView, SAME_SITE, cookiesBelow, removeCookie, setCookie } from "../../../shared/browser/cookies.ts";
import { documentIn } from "../../../shared/browser/tabs.ts";
import { DeniedError, ToolError, isOn, needed, numbers, texts } from "../call.ts";
import { domainsOf, isAtOrAbove, isSentTo, lineOf } from "../cookies.ts";
import type { Hand, Tool } from "../hand.ts";
import { lastOf } from "../page/bound.ts";

/** How much of a list an answer has, in characters; a browser keeps no more than 4,096 bytes of one cookie. */
const MOST = 100_000;

/** The site that was asked about, where the tab still shows it. */
async function siteOf({ args, tab }: Hand): Promise<URL> {
  const site = needed(args, "site");
  const document = await documentIn(tab.id, 0);
  if (document?.origin !== site) throw new DeniedError("the document is not of the site that was asked about");
  return new URL(site);
}

/** The site's cookies, each once; of this name where one is said. */
async function cookiesOf(hand: Hand, site: URL, name?: string): Promise<CookieView[]> {
  const found = await Promise.all(domainsOf(site.hostname).map((domain) => cookiesBelow(hand.tab.id, domain)));
  const own = found.flat().filter((cookie) => isSentTo(site, cookie) && (name === undefined || cookie.name === name));
  return [...new Map(own.map((cookie) => [JSON.stringify([cookie.name, cookie.domain, cookie.isHostOnly, cookie.path]), cookie])).values()];
}

/** Without values of secret fields also where a line is cut. */
async function told({ documents, tab, mayUse, without }: Hand, cookies: CookieView[], most: number) {
  await documents.noteSecrets(tab.id, mayUse);
  const lines = cookies.map((cookie) => without(lineOf(cookie)));
  return { said: cookies.length === 0 ? "There is no such cookie." : `${cookies.length} ${cookies.length === 1 ? "cookie" : "cookies"}.`, page: most === 0 ? lines.join("\n") : lastOf(lines, most) };
}

export const cookieList: Tool = async (hand) => {
  const [domain, path] = [texts(hand.args, "domain")?.replace(/^\./, ""), texts(hand.args, "path")];
  const all = await cookiesOf(hand, await siteOf(hand));
  return told(hand, all.filter((cookie) => (domain === undefined || cookie.domain === domain) && (path === undefined || cookie.path === path)), MOST);
};

export const cookieGet: Tool = async (hand) => told(hand, await cookiesOf(hand, await siteOf(hand), needed(hand.args, "name")), 0);

export const cookieSet: Tool = async (hand) => {
  const { args, tab } = hand;
  const site = await siteOf(hand);
  const [domain, path, expires] = [texts(args, "domain")?.replace(/^\./, ""), texts(args, "path") ?? "/", numbers(args, "expires")];
  if (domain !== undefined && !isAtOrAbove(domain, site.hostname)) throw new ToolError("domain must be the page's host, or one above it");
  if (!path.startsWith("/")) throw new ToolError("path must begin with a slash");
  const sameSite = SAME_SITE.find((one) => one === texts(args, "sameSite"));
  const cookie: CookieView = {
    ...{ name: needed(args, "name"), value: needed(args, "value"), domain: domain ?? site.hostname, isHostOnly: domain === undefined, path },
    ...{ httpOnly: isOn(args, "httpOnly"), secure: isOn(args, "secure") },
    ...(expires === undefined || expires < 0 ? {} : { expires }),
    ...(sameSite === undefined ? {} : { sameSite }),
  };
  if (!(await setCookie(tab.id, site.origin, cookie))) throw new ToolError("the browser does not take this cookie");
  return { said: "The cookie is set." };
};

/** Deletes some of the site's cookies, and says how many are gone. */
async function removed(hand: Hand, name?: string): Promise<{ said: string; isError?: true }> {
  const site = await siteOf(hand);
  const all = await cookiesOf(hand, site, name);
  await Promise.all(all.map((cookie) => removeCookie(hand.tab.id, cookie)));
  const left = await cookiesOf(hand, site, name);
  return left.length === 0 ? { said: all.length === 0 ? "There was no such cookie." : `Deleted: ${all.length}.` } : { said: `The browser has kept ${left.length} of ${all.length}.`, isError: true };
}

export const cookieDelete: Tool = (hand) => removed(hand, needed(hand.args, "name"));

export const cookieClear: Tool = (hand) => removed(hand);
