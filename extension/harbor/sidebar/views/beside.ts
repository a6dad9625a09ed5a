// The first row of the panel: the site in the tab beside it, what it may do now, and the way to stop that.
//
// Must never give anything: a grant is made on the page of a question.

import { visible } from "../../../shared/text/visible.ts";
import { type Child, h } from "../dom.ts";
import { revoke } from "../granted.ts";
import type { Hands } from "../hands.ts";
import { iconOf } from "../icon.ts";
import { button, failure, oneLine } from "../parts.ts";
import { inOrderOfEnding, sitesOf } from "../permissions.ts";
import { hrefOf } from "../route.ts";
import { type Access, type Site, accessOf, accessWords, grantsOf, hostOf } from "../site.ts";
import type { Tone } from "../words.ts";

const STOP = "stop the site beside";
const TONES: { [is in Access["is"]]: Tone } = { none: "idle", blocked: "bad", allowed: "good" };

export function beside(hands: Hands, now: number): Child {
  const { site, grants, servers } = hands.state;
  if (site === undefined || grants === undefined || servers === undefined) return undefined;
  const access = accessOf(site, grants, servers);
  const name = visible(hostOf(site.origin)).text;
  const words = accessWords(access, now);
  const [label, title] = access.is === "blocked" ? ["Unblock", `Unblock ${name}: it may ask again`] : ["End access", `End access of ${name}`];
  const stop = () => hands.act(STOP, () => end(hands, site));
  return h(
    "div.beside",
    { key: site.origin, "data-origin": site.origin },
    iconOf(hostOf(site.origin)),
    h(
      "div.what",
      {},
      h("a.name", { href: hrefOf({ at: "site", origin: site.origin }), id: "beside" }, oneLine(hostOf(site.origin))),
      h("p.standing", { "data-tone": TONES[access.is] }, h("span.words", {}, words)),
    ),
    access.is === "none" ? undefined : button(label ?? "", stop, { id: "stop-beside", class: "small", "aria-label": title, busy: hands.isBusy(STOP) }),
    failure(hands, STOP),
  );
}

/** When what is said here is another: the next minute of a grant that ends. */
export function changesAt(hands: Hands, now: number): number | undefined {
  const { site, grants = [], servers = [] } = hands.state;
  const ends = site === undefined ? undefined : accessOf(site, grants, servers).ends;
  return ends === undefined || ends <= now ? undefined : Math.min(ends, now + 15_000);
}

async function end(hands: Hands, site: Site): Promise<void> {
  for (const { origin, profile, permissions } of sitesOf(grantsOf(site, hands.state.grants ?? []))) {
    await revoke(hands, origin, profile, inOrderOfEnding(permissions));
  }
}
