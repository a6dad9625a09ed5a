// What is shown of a source whose server is here already: that it is, the way to it, and how it is had once more.
//
// Must never begin another installation by itself.

import { type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, notice, oneLine } from "../parts.ts";
import { hrefOf } from "../route.ts";
import type { Installation } from "../store.ts";
import { serverOf } from "./head.ts";

/** The servers of this source that are here now. */
export function hereOf(hands: Hands, { about }: Installation): string[] {
  return (about?.installed ?? []).filter((id) => serverOf(hands, id) !== undefined);
}

/** `again`: the person wants another one. */
export function alreadyHere(ids: string[], again: () => void): VNode {
  const open = (id: string) => h("a.primary", { key: id, href: hrefOf({ at: "server", id, part: "overview" }), "data-here": id }, h("span", {}, "Open ", oneLine(id)));
  return notice(
    "good",
    h("h3", {}, "Installed"),
    h("p", {}, "You have this server: ", oneLine(ids.join(", ")), "."),
    h("p.buttons", {}, ...ids.map(open), button("Install another one…", again, { id: "again" })),
  );
}
