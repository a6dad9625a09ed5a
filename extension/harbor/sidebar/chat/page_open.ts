// Which page is beside the panel, and what is known of it.
//
// Owns that this is looked up again when another page is shown, and when a permission changes. Must never read a page of a site that the
// person has not switched on.

import { localStore, onKept, onPageShown, ownWindow } from "../../../shared/browser/api.ts";
import { type TabView, maySeeTabs, mayReadAllSites, mayReadSite, onPermissions, ownTab, tabOf, tabShownIn } from "../../../shared/browser/tabs.ts";
import { PAGE_ASKED } from "../../page/menu.ts";
import type { Hosts } from "../../page/hosts.ts";
import { PAGE_TOOLS, parsePageTools } from "../../page_source/view.ts";
import type { Hands } from "../hands.ts";
import { PAGE_HOSTS } from "../serve.ts";
import { type Choice, type OpenPage, type PageState, choiceKey, originOf, parseChoice, standingOf } from "./page_rules.ts";
import { PageError, readPage } from "./page_take.ts";

/** Which look-up is the newest: an older one that ends later says nothing. */
let newest = 0;

/** Follows the page of the panel's window; `take`: the person has asked about one in its menu. */
export function watchPage(hands: Hands, take: () => Promise<void>): void {
  const again = () => void lookAtPage(hands).catch((error: unknown) => console.error("the page beside the panel could not be looked at", error));
  onPageShown((shown) => void ownWindow().then((own) => own === shown && again()));
  onPermissions(again);
  // The person's click in the menu of a page leads to the chat, which takes what was asked.
  onKept(PAGE_ASKED, (asked) => {
    if (asked === null || asked === undefined) return;
    if (hands.state.route.at === "chat" && hands.state.bridge.state === "ready") void take();
    else hands.go({ at: "chat", ...(hands.state.chat?.id === undefined ? {} : { id: hands.state.chat.id }) });
  });
}

export function changePage(hands: Hands, patch: Partial<PageState>): void {
  hands.change({ page: { ...hands.state.page, ...patch } });
}

/** Looks which page is there, whether it may be read, and reads it where it goes with messages. */
export async function lookAtPage(hands: Hands): Promise<void> {
  const look = ++newest;
  const open = await openPage(hands);
  const { origin } = open ?? {};
  const [mayRead, mayPicture, choice, hosts] = await Promise.all([mayReadNow(open), mayReadAllSites(), choiceOf(origin), hostsOf(hands)]);
  if (look !== newest) return;
  const before = hands.state.page;
  const isSame = before.open?.tab === open?.tab && before.open?.url === open?.url && open?.isLoading === false;
  changePage(hands, { open, mayRead, mayPicture, choice, hosts, read: isSame ? before.read : undefined, tools: isSame ? before.tools : undefined, ...(isSame ? {} : { isShown: false, problem: undefined }) });
  const { page } = hands.state;
  // Also of a site where nothing may be: what was offered of it ends.
  if (open !== undefined && mayRead) void askForTools(hands, open.tab, look);
  // Nobody waits for that: it is read anew when it is sent.
  if (open !== undefined && !open.isLoading && mayRead && standingOf(page).is === "on") void readAhead(hands, open.tab, look);
}

/** Has the background look which tools the page offers; it says more when they are others. */
async function askForTools(hands: Hands, tab: number, look: number): Promise<void> {
  const tools = parsePageTools(await hands.own(PAGE_TOOLS, { tab }).catch(() => undefined));
  if (look === newest && tools !== undefined) changePage(hands, { tools });
}

/** Reads a page that goes with messages: what fields it has, and how long it is. */
async function readAhead(hands: Hands, tab: number, look: number): Promise<void> {
  try {
    const read = await readPage(tab);
    if (look === newest) changePage(hands, { read });
  } catch (error) {
    // It is said when it is sent.
    if (!(error instanceof PageError)) throw error;
  }
}

/** The tab that the panel's window shows; where that is the panel itself, the one before. */
async function openPage(hands: Hands): Promise<OpenPage | undefined> {
  const [window, own] = await Promise.all([ownWindow(), ownTab()]);
  const shown = window === undefined ? undefined : await tabShownIn(window);
  const { open } = hands.state.page;
  const tab = shown !== undefined && shown.id === own ? open && (await tabOf(open.tab)) : shown;
  return tab === undefined ? undefined : pageIn(hands, tab);
}

function pageIn({ state: { site } }: Hands, { id: tab, url, title, isPrivate, loading }: TabView): OpenPage {
  const isSeen = url !== "";
  const origin = isSeen ? originOf(url) : site?.tab === tab ? site.origin : undefined;
  return { tab, origin, isPrivate: isPrivate === true, isLoading: loading, ...(isSeen ? { url, title } : {}) };
}

/** Whoever may see an address without a permission for names of tabs may read the page, also by a click in its menu. */
async function mayReadNow(open: OpenPage | undefined): Promise<boolean> {
  if (open?.origin === undefined) return false;
  return (await mayReadSite(open.origin)) || (open.url !== undefined && !(await maySeeTabs()));
}

export async function choiceOf(origin: string | undefined): Promise<Choice | undefined> {
  return origin === undefined ? undefined : parseChoice(await localStore.get(choiceKey(origin)).catch(() => undefined));
}

/** Keeps what the person chose for a site. */
export async function choose(hands: Hands, origin: string, choice: Choice): Promise<void> {
  await localStore.set(choiceKey(origin), choice);
  await lookAtPage(hands);
}

/** Which sites are the person's to keep; nothing where the bridge does not say. */
export async function hostsOf(hands: Hands): Promise<Hosts | undefined> {
  try {
    return ((await hands.own(PAGE_HOSTS)) as { hosts?: Hosts }).hosts;
  } catch {
    return undefined;
  }
}
