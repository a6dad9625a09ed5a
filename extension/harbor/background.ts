// The background of `harbor`: the one place that wires bridge, person and pages.
//
// Owns the native port. Must never hold logic: who is let in is in shared/origins, when the port opens in shared/native, what
// is asked in asking.ts. What has to outlive it is in the browser's session storage, or in the bridge.

import {
  browserName,
  closeWindow,
  connectNative,
  localStore,
  markButton,
  markEverywhere,
  notify,
  onForeignPort,
  onNoticeClicked,
  onOwnMessage,
  onOwnPort,
  onPageShown,
  onTabClosed,
  onWindowClosed,
  openSidebarByButton,
  openTab,
  openWindow,
  ownId,
  ownUrl,
  sessionStore,
  tellExtension,
} from "../shared/browser/api.ts";
import { PAUSE } from "../shared/browser/content.ts";
import { onPermissions, onTabUpdated } from "../shared/browser/tabs.ts";
import { NativeClient } from "../shared/native/client.ts";
import { isBackgroundOf, ownPage } from "../shared/origins/senders.ts";
import { answer } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { type GrantsMessage, PEER_PORT } from "../shared/protocol/peer.ts";
import { Approvals } from "./approvals.ts";
import { Asking } from "./asking.ts";
import { Badge } from "./badge.ts";
import { ClosedTabs } from "./browser/closed_tabs.ts";
import { Numbers } from "./browser/numbers.ts";
import { BrowserSource, type SiteWish } from "./browser/source.ts";
import { BrowserTools } from "./browser/switch.ts";
import { parseSite } from "./beside.ts";
import { BrowserProfile } from "./browser_profile.ts";
import { tellGranted } from "./granted.ts";
import { OWN_PORT } from "./own.ts";
import { hostsOf } from "./page/hosts.ts";
import { offerAsking } from "./page/menu.ts";
import { HEARD_PORT } from "./page_source/forms.ts";
import { Judging } from "./page_source/judging.ts";
import { PageSources } from "./page_source/sources.ts";
import { way } from "./page_source/way.ts";
import { consentHandler } from "./consent/handler.ts";
import { LeftOut } from "./left_out.ts";
import { OpenedTabs } from "./opened_tabs.ts";
import { Addresses } from "./page_addresses.ts";
import { PERMITS } from "./page_in_tabs.ts";
import { parseFlagsAnswer } from "./page_flags.ts";
import { peerHandler, stateForPeer } from "./peer.ts";
import { Sidebars } from "./sidebar/serve.ts";
import { GrantedTabs } from "./tabs.ts";
import { TurnNotices } from "./turn_notices.ts";

const NATIVE_HOST = "harbor_bridge";

/** How many requests of all pages together may be open. */
const MOST_OPEN = 1_000;

const tabs = new GrantedTabs(sessionStore);
const numbers = new Numbers(sessionStore);
const closedTabs = new ClosedTabs(sessionStore);
const openedTabs = new OpenedTabs(sessionStore);
const leftOut = new LeftOut(sessionStore);

const after: After = (ms, call) => {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
};

const bridge = new NativeClient({
  connect: () => connectNative(NATIVE_HOST),
  now: () => performance.now(),
  after,
  browserSession,
});

const browserProfile = new BrowserProfile(bridge, { local: localStore, session: sessionStore });

const asking = new Asking({
  now: () => Date.now(),
  store: sessionStore,
  open: (id, width, height) => openWindow(ownUrl(`consent.html?question=${id}`), width, height),
  close: closeWindow,
});

const addresses = new Addresses({
  config: async () => (await bridge.request("get_config", {})).config,
  aboutSite: (origin, host, signal) => askAboutSite(origin, host, "open", signal),
});

/** The page that a window shows; only `web-agents-api` may see that. */
const siteIn = async (windowId: number) => {
  const answer = await tellExtension(__WEB_AGENTS_API_ID__, { ask: "site", window: windowId }).catch(() => undefined);
  const site = parseSite(answer);
  if (site === undefined) return undefined;
  const { profile: container, ...page } = site;
  // Without a bridge nothing is known of what the page may do.
  const profile = await browserProfile.lastOf(container).catch(() => container);
  return profile === undefined ? page : { ...page, profile };
};
const sidebars = new Sidebars(bridge, {
  siteIn,
  browserTools: (change) => browserTools.change(change),
  pageTools: (change) => pageSources.change(change),
  answered: (id) => approvals.answered(id),
  chatShown: (session) => notices.shown(session),
  chatLeft: (session) => notices.left(session),
  openOptions: async () => void (await tellExtension(__WEB_AGENTS_API_ID__, { ask: "options" })),
  pageFlags: async (change) => parseFlagsAnswer(await tellExtension(__WEB_AGENTS_API_ID__, { ask: "flags", ...change }).catch(() => undefined)),
});
const browserTools = new BrowserTools(new BrowserSource(bridge, browserName === "chrome" ? "Chromium" : "Firefox", askAboutSite, numbers, closedTabs), localStore, (view) => sidebars.tellBrowser(view));
const judging = new Judging(localStore, async () => hostsOf((await bridge.request("get_config", {})).config), way);
const pageSources = new PageSources(bridge, way, judging, after, (view) => sidebars.tellPageTools(view));
const CHAT_PAGE = "sidebar.html#chat/";
const notices = new TurnNotices(bridge, (session, end) => notify(CHAT_PAGE + session, end === "answered" ? "Your chat has an answer" : "Your chat could not be answered", "Click to read it."));
const badge = new Badge({ siteIn, store: sessionStore, mark: markButton, markAll: markEverywhere });

/** Whether an AI client, or a site for its tabs, may open a site about which the person wants to be asked, or do more on one; nothing where they have not answered. */
async function askAboutSite(client: string, site: string, wish: SiteWish, signal: AbortSignal): Promise<boolean | undefined> {
  const more = wish === "open" ? {} : { power: wish };
  const decision = await asking.confirm({ origin: client, site, ...more, scopes: [], servers: [], named: false }, signal);
  if (decision === "refused") return undefined;
  if (decision.allow === "no") return decision.dismissed ? undefined : false;
  return true;
}

/** All arguments of a call that the person is asked about. */
async function wholeOf(approval_id: string): Promise<unknown> {
  return (await bridge.request("approvals_list", { approval_id })).arguments;
}

async function browserSession(): Promise<string> {
  const known = await sessionStore.get("browserSession");
  if (typeof known === "string") return known;
  const made = crypto.randomUUID();
  await sessionStore.set("browserSession", made);
  return made;
}

async function tellClosedTabs(): Promise<void> {
  if (bridge.state.is !== "ready") return;
  await tabs.tell((tab) => bridge.request("host_expire_tab_grants", { tab_id: tab })).catch(() => undefined);
}

/** Tell those who are connected of the state. */
const peers = new Set<() => void>();

const tellPeer = tellGranted(bridge, async (origins, grants) => {
  void badge.granted(grants);
  const message: GrantsMessage = { push: "grants", origins };
  // Where it is not there, it asks when it is.
  await tellExtension(__WEB_AGENTS_API_ID__, message).catch(() => undefined);
});

const approvals = new Approvals(bridge, asking, { acted: () => sidebars.acted(), waiting: (many) => void badge.waiting(many) });

onForeignPort((port) => {
  if (port.name !== PEER_PORT || !isBackgroundOf(port.sender, __WEB_AGENTS_API_ID__, browserName)) {
    port.disconnect();
    return;
  }
  const parts = { closedTabs, inTabs: { permits: PERMITS, numbers, opened: openedTabs, addresses }, bridge, profiles: browserProfile, asking, leftOut, noteTab: (tab: number) => tabs.note(tab), after, acted: () => sidebars.acted() };
  const push = answer(port, peerHandler(parts), { open: MOST_OPEN });
  const tellState = () => push("bridge", { ...stateForPeer(bridge.state) });
  peers.add(tellState);
  port.onDisconnect(() => peers.delete(tellState));
  tellState();
  tellPeer();
});

// Documents that are not shown have the time told: their own timers are slow.
onOwnMessage((message) => {
  const { ask, ms } = Object(message) as { ask?: unknown; ms?: unknown };
  if (ask !== PAUSE || typeof ms !== "number") return undefined;
  return new Promise((done) => setTimeout(done, Math.min(Math.max(ms, 0), 1_000), true));
});

onOwnPort((port) => {
  if (port.name === HEARD_PORT) return pageSources.heard(port);
  const page = ownPage(port.sender, ownId(), ownUrl(""));
  if (port.name !== OWN_PORT || page === undefined) port.disconnect();
  else if (page === "consent.html") {
    const push = answer(port, consentHandler(asking, (view) => push("question", { ...view }), wholeOf), { open: 4 });
  } else if (page === "sidebar.html") sidebars.serve(port);
  else port.disconnect();
});

bridge.onState(() => {
  void tellClosedTabs();
  for (const tellState of peers) tellState();
});
onTabClosed((tab) => {
  void closedTabs.forget(tab);
  void openedTabs.close(tab);
  void pageSources.closed(tab);
  void tabs.close(tab).then(tellClosedTabs);
});
onPageShown((windowId, tabId) => {
  void sidebars.pageShown(windowId);
  void badge.shown(windowId, tabId);
});
onWindowClosed((windowId) => asking.windowClosed(windowId));
// No click on a notice can open a panel: the chat opens in a tab.
onNoticeClicked((place) => openTab(ownUrl(place)));
const lookAtPages = () => void pageSources.begin().catch((error: unknown) => console.error("the tools of pages were not looked at", error));
onTabUpdated((tab) => void pageSources.updated(tab).catch(() => undefined));
onPermissions(lookAtPages);
lookAtPages();
openSidebarByButton();
offerAsking(sessionStore);
