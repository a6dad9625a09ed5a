// The catalog: servers that can be had, found as one types; and the ways to add one that is in no list.
//
// Owns when is asked: a little after the last letter. What is typed leaves this machine nowhere.

import type { CatalogEntry } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { installedAs } from "../catalogued.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { iconOf } from "../icon.ts";
import { button, empty, failure, field, oneLine, waiting } from "../parts.ts";
import { kindWords } from "../plan.ts";
import { hrefOf } from "../route.ts";
import { TYPING_MS, found, typed } from "../search.ts";
import { count } from "../words.ts";
import { back } from "./head.ts";

const SEARCH = "search";
const PAGE = 20;

export const add: View<{ at: "add" }> = {
  title: () => "Add a server",
  enter(hands, _, signal) {
    if (hands.state.search.entries === undefined) ask(hands, false);
    signal.addEventListener("abort", () => clearTimeout(timer));
  },
  show(hands) {
    const { query } = hands.state.search;
    const input = ({ target }: Event) => type(hands, (target as HTMLInputElement).value);
    return [
      back({ at: "servers" }, "Tools"),
      h("h2.unseen", { tabindex: "-1", id: "title" }, "Add a server"),
      h(
        "div.search",
        { role: "search" },
        h("label.unseen", { for: "query" }, "Search the catalog"),
        h("input", { id: "query", type: "search", placeholder: "Search the catalog", autocomplete: "off", value: query, on: { input } }),
      ),
      topics(hands, query),
      h("div", { key: "entries" }, ...entriesOf(hands)),
      // Not before the list is there: it would move away under the pointer.
      hands.state.search.entries === undefined ? undefined : h("details.others", { key: "others" }, h("summary", {}, "Not in the catalog?"), ...others(hands)),
    ];
  },
};

/** Words by which the catalog finds what many look for. */
const TOPICS = ["files", "web", "browser", "code", "notes"];

/** Each is a search like one that is typed. */
function topics(hands: Hands, query: string): VNode {
  const look = (word: string) => {
    type(hands, word);
    const box = document.getElementById("query") as HTMLInputElement | null;
    if (box !== null) box.value = word;
  };
  const one = (topic: string) => {
    const isOn = query === topic;
    return button(topic, () => look(isOn ? "" : topic), { key: topic, class: "segment", "data-topic": topic, "aria-pressed": String(isOn) });
  };
  return h("div.segments", { key: "topics", role: "group", "aria-label": "Topics" }, ...TOPICS.map(one));
}

const SOURCES = "npm:NAME, pypi:NAME, OWNER/NAME on GitHub, git:URL, binary:URL, oci:IMAGE, or the URL of a remote server.";

/** Goes to the catalog, and looks for this in it. */
export function searchFor(hands: Hands, query: string): void {
  hands.change({ search: { ...typed(hands.state.search, query), entries: undefined } });
  hands.go({ at: "add" });
}

let timer: ReturnType<typeof setTimeout> | undefined;

function type(hands: Hands, query: string): void {
  hands.change({ search: typed(hands.state.search, query) });
  clearTimeout(timer);
  timer = setTimeout(() => ask(hands, false), TYPING_MS);
}

function ask(hands: Hands, more: boolean): void {
  const { query, turn, next } = hands.state.search;
  // The last question counts.
  hands.cancel(SEARCH);
  hands.act(SEARCH, async (signal) => {
    const page = { limit: PAGE, ...(more && next !== undefined ? { cursor: next } : {}) };
    const words = query.trim();
    const answer = await (words === "" ? hands.ask("catalog_get", page, { signal }) : hands.ask("catalog_search", { ...page, query: words }, { signal }));
    await learnWays(hands, answer.entries, signal);
    hands.change({ search: found(hands.state.search, turn, answer, more) });
  });
}

/** Before they are shown: what is here already must not be offered for a moment. */
async function learnWays(hands: Hands, entries: CatalogEntry[], signal: AbortSignal): Promise<void> {
  const unknown = entries.filter(({ id }) => hands.state.ways[id] === undefined);
  const asked = unknown.map(async ({ id }) => {
    // One that has just gone from the catalog is shown as one that is not here.
    const { details } = (await hands.ask("catalog_entry", { id }, { signal }).catch(() => undefined)) ?? {};
    return details === undefined ? [] : [[id, details] as const];
  });
  const learnt = (await Promise.all(asked)).flat().map(([id, { packages, remotes }]) => [id, { packages, remotes }]);
  if (learnt.length > 0) hands.change({ ways: { ...hands.state.ways, ...Object.fromEntries(learnt) } });
}

function entriesOf(hands: Hands): Child[] {
  const { entries, next, total, snapshot, query } = hands.state.search;
  if (entries === undefined) return [failure(hands, SEARCH), hands.isBusy(SEARCH) ? waiting("Searching…") : undefined];
  const words = total === undefined ? "More than 500 found" : query.trim() === "" ? count(total, "server").replace(/$/, " in the catalog") : `${total} found`;
  return [
    failure(hands, SEARCH),
    h("p.soft", { role: "status", id: "found" }, words, snapshot === undefined ? "" : `; offline list from ${snapshot}`),
    entries.length === 0 ? notThere(query.trim()) : h("ul.rows.entries", {}, ...entries.map((entry) => entryOf(hands, entry, entries.every(({ featured }) => featured)))),
    next === undefined ? undefined : button("Show more", () => ask(hands, true), { id: "more", busy: hands.isBusy(SEARCH) }),
  ];
}

/** A word that is in no list may be a package's name. */
function notThere(word: string): VNode {
  const name = visible(word).text;
  if (!/^(@[\w.-]+\/)?[A-Za-z0-9][\w.-]*$/.test(word)) return empty("No server matches. Try one word, such as the name of the service.");
  const look = (registry: "npm" | "pypi", words: string) => h("a.action", { href: hrefOf({ at: "install", source: `${registry}:${word}` }), "data-look": registry }, `Look up “${name}” at ${words}`);
  return h(
    "div",
    { key: "none" },
    h("p.empty", {}, `The catalog has no “${name}”. A package may have this name; look at it before you install it.`),
    h("p.buttons", {}, look("npm", "npm"), word.startsWith("@") ? undefined : look("pypi", "PyPI")),
  );
}

/** `plain`: all that are shown are of Harbor's own list, so that none says it. */
function entryOf(hands: Hands, { id, title, name, description, kinds, featured, stars, status }: CatalogEntry, plain: boolean): VNode {
  const extra = [publisherOf(name), kinds.map(kindWords).join(", "), stars === undefined ? "" : `★ ${stars.toLocaleString("en")}`].filter((one) => one !== "").join(" · ");
  return h(
    "li",
    { key: id },
    iconOf(title ?? name, name),
    h("a.name", { href: hrefOf({ at: "install", source: id }), "data-entry": name }, oneLine(title ?? name)),
    actionOf(hands, id, visible(title ?? name).text, featured),
    featured && !plain ? h("span.badge", { title: "In Harbor's own list" }, "✓ chosen by Harbor") : undefined,
    status === "active" ? undefined : h("span.badge", { "data-type": "DENY" }, oneLine(status)),
    h("p.words", {}, oneLine(description)),
    h("p.soft.extra", {}, oneLine(extra)),
  );
}

/** A registry's names begin with whose they are: `io.github.a/x`, `com.example/x`. It says nothing of trust. */
export function publisherOf(name: string): string {
  const [space = "", rest] = name.split("/");
  if (rest === undefined || !/^[a-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(space)) return "";
  const [, account] = /^io\.github\.(.+)$/.exec(space) ?? [];
  return account === undefined ? `by ${space.split(".").reverse().join(".")}` : `by ${account} on GitHub`;
}

/** What is here leads to its server; of the rest only Harbor's own list offers it at once. */
function actionOf({ state }: Hands, id: string, name: string, featured: boolean): VNode | undefined {
  const ways = state.ways[id];
  const [server] = ways === undefined ? [] : installedAs(ways, state.servers ?? []);
  if (server !== undefined) return h("a.action.get", { href: hrefOf({ at: "server", id: server, part: "overview" }), "aria-label": `${name} is installed: open it` }, "Installed");
  return featured ? h("a.action.get", { href: hrefOf({ at: "install", source: id }), "aria-label": `Install ${name}` }, "Install") : undefined;
}

function others(hands: Hands): Child[] {
  const submit = (event: Event) => {
    event.preventDefault();
    const source = (document.getElementById("source") as HTMLInputElement).value.trim();
    if (source !== "") hands.go({ at: "install", source });
  };
  return [
    h(
      "form",
      { on: { submit } },
      field({ id: "source", label: "Package, repository or image", about: SOURCES }, (props) =>
        h("input", { type: "text", autocomplete: "off", spellcheck: "false", ...props }),
      ),
      h("p.buttons", {}, h("button", { type: "submit", id: "look-up" }, "Look up")),
    ),
    h(
      "ul.links",
      {},
      h("li", {}, h("a", { href: hrefOf({ at: "new", kind: "command" }) }, "Paste a command or JSON")),
      h("li", {}, h("a", { href: hrefOf({ at: "new", kind: "remote" }) }, "A remote server")),
    ),
  ];
}
