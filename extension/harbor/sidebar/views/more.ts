// What is needed rarely: models, what pages may ask for, browser tools, which version this is.
//
// Owns where these are found. Must never change anything itself.

import { type Child, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button } from "../parts.ts";
import { type Route, hrefOf } from "../route.ts";
import { PAGE_OPTIONS } from "../serve.ts";

const row = (to: Route, name: string, words: string): Child => h("li.server", { key: name }, h("div.what", {}, h("a.name.whole", { href: hrefOf(to) }, name), h("p.soft", {}, words)));

export const more: View<{ at: "more" }> = {
  title: () => "More",
  show: (hands: Hands) => [
    h("h2", { tabindex: "-1", id: "title" }, "More"),
    h(
      "ul.rows",
      {},
      row({ at: "models" }, "Models", "Add a model, give it a key, choose the one that answers"),
      row({ at: "browser" }, "Browser tools", "Let AI clients use this browser"),
      row({ at: "add" }, "Catalog", "Add servers"),
      row({ at: "questions" }, "Questions", "Calls that wait for your yes, and answers that stand"),
    ),
    h("h3", {}, "What pages may ask for"),
    h("p.buttons", {}, button("Open the settings", () => void hands.own(PAGE_OPTIONS).catch((error: unknown) => hands.fail("options", error)), { id: "options" })),
    h("p.soft", {}, `Harbor ${hands.state.bridge.version ?? ""}`),
  ],
};
