// What is needed rarely: models, what pages may ask for, other programs, which version this is.
//
// Owns where these are found, and the switches for all pages, which the other extension holds. Must never hold one itself.

import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, command, failure, waiting } from "../parts.ts";
import { type Route, hrefOf } from "../route.ts";
import { PAGE_FLAGS, PAGE_OPTIONS } from "../serve.ts";

const [READ, OPTIONS] = ["page flags", "options"];

/** In the order in which they are shown; one that is newer than this is not shown here. */
const FLAG_WORDS: readonly (readonly [flag: string, head: string, off: string])[] = [
  ["textGeneration", "Sites may use your models", "Only sites that you allowed. Off: no site can."],
  ["toolAccess", "Sites may see your tools", "Only the tools that you allowed. Off: no site learns which you have."],
  ["toolCalling", "Sites may use your tools", "Only the tools that you allowed. Off: no site can call one."],
  ["agentRuns", "Sites may have a model work with tools", "Only sites and tools that you allowed. Off: no site can begin such a task."],
  ["browserInteraction", "Sites may have Harbor read and click in their own page", "Only sites that you allowed, in their own tab. Off: no site can."],
  ["screenshots", "Sites may have pictures of their own page", "Only sites that you allowed. Frames of others and secret fields are left out. Off: no site can."],
  ["browserControl", "Sites may open and lead tabs", "Only sites that you allowed, only tabs that they opened and their own. Off: no site can."],
  ["pageTools", "Sites may give your model tools of their own", "These run in the site's own page. Off: no site can."],
];

const row = (to: Route, name: string, words: string): Child =>
  h("li.server", { key: name }, h("div.what", {}, h("a.name.whole", { href: hrefOf(to) }, name), h("p.soft", {}, words)), h("span.go", { "aria-hidden": "true" }, "›"));

export const more: View<{ at: "more" }> = {
  title: () => "More",
  enter: (hands, _, signal) => hands.read(READ, () => look(hands, {}), signal),
  show: (hands: Hands) => [
    h("h2.unseen", { tabindex: "-1", id: "title" }, "More"),
    h(
      "ul.rows",
      {},
      row({ at: "models" }, "Models", "Add one, give it a key, choose the one that answers"),
      row({ at: "add" }, "Add a server", "From the catalog, a package, a command or JSON"),
      row({ at: "browser" }, "Browser control", "Let AI apps use this browser"),
      row({ at: "questions" }, "Questions", "Calls that wait for your yes, and answers that stand"),
    ),
    h("h3.group", {}, "For all web sites"),
    failure(hands, READ),
    ...flags(hands),
    h("p.buttons", {}, button("Choose for single sites…", () => hands.act(OPTIONS, () => hands.own(PAGE_OPTIONS).then(() => undefined)), { id: "options", class: "small" })),
    failure(hands, OPTIONS),
    h("h3.group", {}, "In a terminal"),
    ...terminal(hands, "Connect AI apps and browsers", "harbor setup"),
    ...terminal(hands, "Take over servers of other programs", "harbor import"),
    ...terminal(hands, "Find what is wrong", "harbor doctor"),
    h("p.soft", {}, `Harbor ${hands.state.bridge.version ?? ""}, extension ${__VERSION__}`),
  ],
};

function flags(hands: Hands): Child[] {
  const { pageFlags: known } = hands.state;
  if (known === undefined) return [hands.isBusy(READ) ? waiting("Asking…") : undefined];
  return [h("ul.rows.settings", {}, ...FLAG_WORDS.filter(([flag]) => flag in known).map(([flag, head, off]) => flagOf(hands, flag, known[flag] === true, head, off)))];
}

function flagOf(hands: Hands, flag: string, isOn: boolean, head: string, off: string): VNode {
  const act = `flag ${flag}`;
  const turn = () => hands.act(act, () => look(hands, { flag, on: !isOn }));
  const props = { class: "switch", role: "switch", "aria-checked": String(isOn), "aria-describedby": `${flag}-about`, "data-flag": flag, busy: hands.isBusy(act) };
  return h("li", { key: flag }, button(head, turn, props), h("p.about", { id: `${flag}-about` }, off), failure(hands, act));
}

async function look(hands: Hands, change: { flag?: string; on?: boolean }): Promise<void> {
  const { flags: pageFlags } = (await hands.own(PAGE_FLAGS, change)) as { flags: { [flag: string]: boolean } };
  hands.change({ pageFlags });
}

function terminal(hands: Hands, words: string, line: string): Child[] {
  return [h("p.soft", { key: `${line} words` }, `${words}:`), command(line, hands)];
}
