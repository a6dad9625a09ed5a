// The sidebar: wires the background, the state, the views and the page. The chat is loaded with it, all other views after it.
//
// Owns which view is shown, and where the focus goes when that changes. What is shown is pushed; nothing is asked for over and over.

import { ownWindow, sessionStore } from "../../shared/browser/api.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { visible } from "../../shared/text/visible.ts";
import { attach } from "./chat/attaching.ts";
import { type Told, sentences } from "./chat/spoken.ts";
import { ALL } from "./days.ts";
import { type Child, h, render } from "./dom.ts";
import { loadGrants } from "./granted.ts";
import { needing } from "./groups.ts";
import { Hands, type View } from "./hands.ts";
import { readFirstRun } from "./chat/first_run.ts";
import { link } from "./link.ts";
import { Missing } from "./missing.ts";
import { button, failure, waiting } from "./parts.ts";
import { NO_PROVIDERS } from "./models/known.ts";
import { takeAsked } from "./chat/page_asked.ts";
import { lookAtPage, watchPage } from "./chat/page_open.ts";
import { heardPageTools } from "./chat/page_tools.ts";
import { NO_PAGE } from "./chat/page_rules.ts";
import { waitsKey } from "./chat/waits.ts";
import { type Route, hrefOf, parseRoute } from "./route.ts";
import { NO_SEARCH } from "./search.ts";
import { type BridgeView, type SidebarPushes, WATCH_SITE } from "./serve.ts";
import { Store } from "./store.ts";
import { beside, changesAt } from "./views/beside.ts";
import { LAST_CHAT, NOT_COMPOSING, chat, chatReconnected, escapes } from "./views/chat.ts";
import { bridgeHelp, bridgeLine } from "./views/bridge.ts";
import { loadQuestions, waitingOf } from "./views/questions.ts";

const TABS: readonly (readonly [name: string, to: Route, at: Route["at"][]])[] = [
  ["Chat", { at: "chat" }, ["chat", "chats"]],
  ["Tools", { at: "servers" }, ["servers", "server", "tool", "add", "install", "new"]],
  ["Access", { at: "sites" }, ["sites", "site", "browser", "questions"]],
  ["Log", { at: "activity" }, ["activity"]],
  ["More", { at: "more" }, ["more", "models"]],
];

/** How often the page is drawn while a model writes: once for each frame, also where the browser draws none. */
const FRAME_MS = 16;

const root = (id: string) => document.getElementById(id) as HTMLElement;
const missing = new Missing();
let entered = new AbortController();
let told: Told = { of: "", letters: 0 };
/** When the person has tried again last, while there is no connection. */
let tried: number | undefined;
let drawing = false;
/** When the page was drawn last. */
let drawn = -FRAME_MS;
let due: ReturnType<typeof setTimeout> | undefined;

const store = new Store(
  {
    bridge: { state: "connecting" },
    servers: undefined,
    route: parseRoute(location.hash),
    missing: {},
    acts: {},
    said: "",
    detail: undefined,
    trial: undefined,
    grants: undefined,
    offered: {},
    budgets: undefined,
    budgeting: undefined,
    site: undefined,
    activity: undefined,
    logged: ALL,
    approvals: undefined,
    browser: undefined,
    pageFlags: undefined,
    search: NO_SEARCH,
    ways: {},
    filter: "",
    installation: undefined,
    pasting: undefined,
    chat: undefined,
    composing: NOT_COMPOSING,
    asks: [],
    leaving: undefined,
    page: NO_PAGE,
    at: undefined,
    models: undefined,
    providers: NO_PROVIDERS,
    firstRun: undefined,
    chats: undefined,
    adding: undefined,
  },
  drawSoon,
);
const background = link(heard);
const hands = new Hands(store, (type, payload, options) => background.call(type, payload, options));

function viewOf(route: Route): View {
  return route.at === "chat" ? (chat as View) : (places?.placeOf(route) ?? COMING);
}

/** All views but the chat, once they are loaded. */
let places: typeof import("./places.ts") | undefined;
const LOAD = "load places";
/** What is shown in their place meanwhile. */
const COMING: View = { title: () => "Harbor", show: () => [failure(hands, LOAD), hands.isBusy(LOAD) ? waiting("Opening…") : undefined] };

function loadPlaces(): void {
  if (places !== undefined) return;
  hands.act(LOAD, async () => {
    places = await import("./places.ts").catch(() => {
      throw new CodedError("ERR_INTERNAL", "This view could not be loaded. Close the panel, and open it again.");
    });
    if (store.state.route.at === "chat") return;
    enter();
    draw();
    // Who has gone there by a key waits at the view itself.
    if (document.activeElement === root("view")) toTitle();
  });
}

function heard(type: string, payload: Fields): void {
  const { state } = store;
  if (type === "bridge") {
    const bridge = payload as unknown as BridgeView;
    if (bridge.state === "ready") tried = undefined;
    store.change({ bridge });
    // What was asked of the connection before is to be asked again.
    if (bridge.state === "ready" && state.bridge.state !== "ready") {
      // Without it the panel says nothing of the page beside it, and all else.
      void watchSite().catch(() => undefined);
      loadGrants(hands);
      loadQuestions(hands);
      chatReconnected(hands);
      enter();
    }
  } else if (type === "servers") {
    store.change({ servers: (payload as unknown as SidebarPushes["servers"]).servers });
    missing.look(hands);
    viewOf(state.route).heard?.(hands, state.route, type, payload);
  } else if (type === "site") {
    store.change({ site: (payload as SidebarPushes["site"]).site });
    void lookAtPage(hands);
  } else if (type === "page_tools") heardPageTools(hands, payload);
  else {
    if (type === "grant_changed") loadGrants(hands);
    if (type === "approval") loadQuestions(hands);
    viewOf(state.route).heard?.(hands, state.route, type as keyof SidebarPushes, payload);
  }
}

function enter(): void {
  entered.abort();
  entered = new AbortController();
  hands.here = entered.signal;
  const { route, bridge } = store.state;
  if (bridge.state === "ready") viewOf(route).enter?.(hands, route, entered.signal);
}

function moved(): void {
  const route = parseRoute(location.hash);
  const { detail, chat } = store.state;
  // A chat that begins gets its address, and the person goes on typing.
  const begins = route.at === "chat" && route.id !== undefined && route.id === chat?.id;
  const id = route.at === "server" || route.at === "tool" ? route.id : undefined;
  const kept = id === undefined || detail?.id === id ? detail : { id };
  hands.forget();
  hands.arrived();
  store.change({ route, detail: kept === undefined ? undefined : { ...kept, removing: false } });
  if (route.at !== "chat") loadPlaces();
  enter();
  draw();
  if (begins) return;
  root("view").scrollTop = 0;
  toTitle();
}

function toTitle(): void {
  (document.getElementById("title") ?? root("view")).focus({ preventScroll: true });
}

function drawSoon(): void {
  if (drawing) return;
  drawing = true;
  // No frame of the browser's: it draws none for a sidebar that nobody sees.
  const left = drawn + FRAME_MS - performance.now();
  if (left <= 0) queueMicrotask(draw);
  else setTimeout(draw, left);
}

function draw(): void {
  drawing = false;
  drawn = performance.now();
  const { route, bridge, said } = store.state;
  const { activeElement: focused } = document;
  const atEnd = [...document.querySelectorAll("[data-stick]")].filter(isAtEnd);
  // Without Harbor there is nothing to be shown but what to do about that, and the chat that was read.
  const known = bridge.state !== "failed" || (route.at === "chat" && (store.state.chat?.items.length ?? 0) > 0);
  render(root("bridge"), [bridgeHelp(hands, bridge, tryAgainNow, tried)]);
  const view = viewOf(route);
  const wasAtEnd = isAtEnd(root("view"));
  render(root("top"), [...(known ? (view.top?.(hands, route) ?? [h("strong", {}, view.title(store.state, route)), h("span.space")]) : []), bridgeLine(bridge)]);
  render(root("site"), known ? [beside(hands, Date.now())] : []);
  minute();
  render(root("tabs"), known ? TABS.map(([name, to, at]) => tab(name, to, at.includes(route.at))) : []);
  render(root("view"), known ? [h("div", { key: hrefOf(route) }, ...view.show(hands, route))] : []);
  render(root("foot"), known ? [h("div", { key: route.at }, ...(view.foot?.(hands, route) ?? []))] : []);
  render(root("said"), [said]);
  // What had the focus is gone: the keyboard goes on from the head of what is shown.
  if (focused !== null && !focused.isConnected) toTitle();
  document.title = `${view.title(store.state, route)} – Harbor`;
  const sticking = [...document.querySelectorAll("[data-stick]")].filter((one) => atEnd.includes(one) || one.scrollTop === 0);
  for (const one of sticking) one.scrollTop = one.scrollHeight;
  if (route.at === "chat" && wasAtEnd) toEnd();
  render(root("end"), route.at === "chat" && !isAtEnd(root("view")) ? [button("Go to the end", toEnd, { id: "to-end", class: "quiet" })] : []);
  speak();
}

function toEnd(): void {
  root("view").scrollTop = root("view").scrollHeight;
}

/** Tells a screen reader what has been written, in sentences. */
function speak(): void {
  const { chat: now } = store.state;
  const last = now?.turn?.items.findLast(({ is }) => is === "answer");
  if (now?.turn === undefined || last?.is !== "answer") return;
  const next = sentences(told, `${now.turn.id} ${now.turn.items.indexOf(last)}`, last.text, !last.writing);
  told = next.told;
  if (next.say !== "") render(root("spoken"), [visible(next.say).text]);
}

/** Draws again when what is left of a grant is another number. */
function minute(): void {
  clearTimeout(due);
  const now = Date.now();
  const at = changesAt(hands, now);
  if (at !== undefined) due = setTimeout(draw, at - now + 50);
}

function isAtEnd({ scrollTop, clientHeight, scrollHeight }: Element): boolean {
  return scrollTop + clientHeight >= scrollHeight - 4;
}

function tab(name: string, to: Route, here: boolean): Child {
  const { ofChats, ofOthers } = waitingOf(store.state);
  const many = to.at === "chat" ? ofChats : to.at === "sites" ? ofOthers : 0;
  const waiting = many === 0 ? undefined : h("span.count", { key: "count" }, String(many), h("span.unseen", {}, " waiting"));
  const needs = to.at === "servers" ? needing(store.state.servers, store.state.missing) : 0;
  const mark = needs === 0 ? undefined : h("span.mark", { key: "mark" }, h("span.unseen", {}, ` (${needs} need${needs === 1 ? "s" : ""} you)`));
  return h("a", { href: hrefOf(to), "aria-current": here ? "page" : undefined, key: name, "data-icon": name.toLowerCase(), on: { click: toTop } }, name, waiting, mark);
}

/** Also for whoever is there already: then no address changes. */
function toTop(): void {
  root("view").scrollTop = 0;
}

/** By the person's click: what came of it is said, also where it is the same as before. */
function tryAgainNow(): void {
  tried = Date.now();
  tryAgain();
}

function tryAgain(): void {
  // The failure is in the connection's state, where it is shown.
  void background.call("ping", {}).catch(() => undefined);
}

/** Where the background has ended meanwhile, the next one has to be told again. */
async function watchSite(): Promise<void> {
  const window_id = await ownWindow();
  await background.call(WATCH_SITE, { window_id });
}

/** Opened without a place it shows the chat that was shown last. */
async function begin(): Promise<void> {
  const last = location.hash === "" ? await sessionStore.get(LAST_CHAT).catch(() => undefined) : undefined;
  if (typeof last === "string" && location.hash === "") location.hash = hrefOf({ at: "chat", id: last });
  tryAgain();
}

addEventListener("hashchange", moved);
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  // Without this the browser opens the file in the place of the panel.
  event.preventDefault();
  if (store.state.route.at === "chat") attach(hands, event.dataTransfer?.files ?? []);
});
// Menus close as menus do.
addEventListener("click", ({ target }) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(target as Node)) menu.removeAttribute("open");
});
addEventListener("keydown", (event) => {
  if (store.state.route.at === "chat" && waitsKey(hands, event)) event.preventDefault();
  if (event.key !== "Escape") return;
  const menus = document.querySelectorAll("details.menu[open]");
  for (const menu of menus) menu.removeAttribute("open");
  // In a field it means what the field says.
  if (menus.length === 0 && store.state.route.at === "chat" && !(event.target as Element).matches("input, textarea")) escapes(hands);
});
root("view").addEventListener("scroll", () => {
  if (store.state.route.at === "chat" && isAtEnd(root("view")) !== (document.getElementById("to-end") === null)) drawSoon();
});
const { route: first } = store.state;
store.change({ detail: first.at === "server" || first.at === "tool" ? { id: first.id } : undefined });
// The chat comes first; who opens the panel elsewhere waits for nothing else.
if (first.at === "chat") requestIdleCallback(loadPlaces, { timeout: 1_000 });
else loadPlaces();
void readFirstRun(hands);
void begin();
watchPage(hands, () => takeAsked(hands));
