// Scopes of pages that need more than a grant: the browser has to let Harbor use the page, too.
//
// Pure but for the browser that it asks. Must never call a scope usable that would end in a refusal of the browser's.

import type { Grant } from "../shared/protocol/generated/messages.ts";
import type { BrowserScope } from "../shared/protocol/in_tabs.ts";
import type { PermissionsView, Scope } from "../shared/protocol/peer.ts";
import { viewOf } from "./grants.ts";

/** What the browser says that Harbor may do. */
export interface Permits {
  readSite(origin: string): Promise<boolean>;
  usePages(): Promise<boolean>;
}

/** What the browser has to be asked for: the one site, or all that the browser tools need. */
export type Lack = "site" | "pages";

const NEEDS: { [scope in BrowserScope]?: Lack } = { "browser:activeTab.read": "site", "browser:activeTab.interact": "site", "browser:activeTab.screenshot": "pages", "browser:tabs.read": "site", "browser:tabs.create": "site" };

const needOf = (scope: Scope): Lack | undefined => (NEEDS as { [scope in Scope]?: Lack })[scope];

/** What of the browser's is missing for these scopes; nothing where all of it is there. */
export async function lackOf(permits: Permits, origin: string, scopes: readonly Scope[]): Promise<Lack | undefined> {
  const needs = new Set(scopes.map(needOf));
  if (needs.has("pages") && !(await permits.usePages())) return "pages";
  return needs.has("site") && !(await permits.readSite(origin)) ? "site" : undefined;
}

/** Those of a site's grants that it can make use of now. */
export async function usable(permits: Permits, origin: string, grants: Grant[]): Promise<Grant[]> {
  const lacks = await Promise.all(grants.map(({ scope, grant_type }) => (grant_type === "DENY" ? undefined : lackOf(permits, origin, [scope as Scope]))));
  return grants.filter((_, at) => lacks[at] === undefined);
}

/** What a page may: of what is granted, and the browser does not let Harbor do, that it is unavailable. */
export function toldOf(origin: string, grants: Grant[], useful: Grant[]): PermissionsView {
  const [all, now] = [viewOf(origin, grants), viewOf(origin, useful)];
  const words = Object.entries(now.scopes).map(([scope, word]) => [scope, all.scopes[scope as Scope] === word ? word : "unavailable"]);
  return { ...all, scopes: Object.fromEntries(words) as PermissionsView["scopes"] };
}
