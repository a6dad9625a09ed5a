// The one file that touches the browser's extension API, and the seam for tests.
//
// Owns the names that differ between browsers, and the forms in which the rest sees ports, senders and storage. Must never
// decide anything: who is let in is the business of whoever asks.

/** Who is at the other end of a port or a message, as the browser says it. What it does not say is absent. */
export interface Sender {
  id?: string;
  url?: string;
  origin?: string;
  frameId?: number;
  documentId?: string;
  /** `store`: where the browser keeps the cookies of its pages, as it calls that. */
  tab?: { id: number; incognito: boolean; store?: string };
}

/** A connection to another part of an extension, to another extension or to the native host. */
export interface Port {
  readonly name: string;
  readonly sender: Sender;
  /** Throws when the port is closed, or the message too large for the browser. */
  post(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
  /** The text is the browser's, and empty where it gives none. Not called for one's own `disconnect`. */
  onDisconnect(listener: (reason: string) => void): void;
  disconnect(): void;
}

/** A map that is kept by the browser. */
export interface Store {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
}

export const browserName = __BROWSER__;

export const ownId = (): string => chrome.runtime.id;

/** The address of one of our own files. */
export const ownUrl = (file: string): string => chrome.runtime.getURL(file);

/** Starts the native host. Where that fails, the port closes with the reason. */
export const connectNative = (host: string): Port => portOf(chrome.runtime.connectNative(host));

/** Connects to the background of our own extension. */
export const connectOwn = (name: string): Port => portOf(chrome.runtime.connect({ name }));

/** Connects to another extension. Where it is not there, the port closes. */
export const connectExtension = (id: string, name: string): Port => portOf(chrome.runtime.connect(id, { name }));

/** Ports of our own pages and content scripts. */
export function onOwnPort(listener: (port: Port) => void): void {
  chrome.runtime.onConnect.addListener((port) => listener(portOf(port)));
}

/** Ports of other extensions. */
export function onForeignPort(listener: (port: Port) => void): void {
  chrome.runtime.onConnectExternal.addListener((port) => listener(portOf(port)));
}

/** Sends another extension a message, and gives its answer; rejects where it is not there, or refuses. */
export function tellExtension(id: string, message: unknown): Promise<unknown> {
  return chrome.runtime.sendMessage(id, message);
}

/** Messages of our own documents. Of those that the listener gives nothing for, nobody hears. */
export function onOwnMessage(listener: (message: unknown) => Promise<unknown> | undefined): void {
  chrome.runtime.onMessage.addListener((message, _sender, done) => {
    const answer = listener(message);
    void answer?.then(done, () => done());
    return answer !== undefined;
  });
}

/** Messages of other extensions. The sender waits for what the listener gives; nothing where it fails. */
export function onForeignMessage(listener: (message: unknown, sender: Sender) => Promise<unknown>): void {
  chrome.runtime.onMessageExternal.addListener((message, sender, done) => {
    void listener(message, senderOf(sender)).then(done, () => done());
    return true;
  });
}

/** Called once the browser has started, or the extension is new or another version. */
export function onStarted(listener: () => void): void {
  chrome.runtime.onStartup.addListener(listener);
  chrome.runtime.onInstalled.addListener(listener);
}

/** A content script that is not in the manifest. */
export interface Script {
  id: string;
  file: string;
  world: "ISOLATED" | "MAIN";
}

/**
 * Has scripts run in all frames whose address matches, or in top frames alone, before those of the page, until they are placed otherwise; nowhere
 * where nothing matches. The browser keeps that when it is started again, and forgets it when the extension becomes another version.
 */
export async function placeScripts(scripts: Script[], matches: string[], allFrames = true): Promise<void> {
  const ids = scripts.map(({ id }) => id);
  const known = (await chrome.scripting.getRegisteredContentScripts({ ids })).map(({ id }) => id);
  const wanted = scripts.map(({ id, file, world }) => ({
    ...{ id, js: [file], world, matches, allFrames },
    ...{ matchOriginAsFallback: false, runAt: "document_start" as const, persistAcrossSessions: true },
  }));
  if (matches.length > 0 && known.length === ids.length) {
    await chrome.scripting.updateContentScripts(wanted);
    return;
  }
  if (known.length > 0) await chrome.scripting.unregisterContentScripts({ ids: known });
  if (matches.length > 0) await chrome.scripting.registerContentScripts(wanted);
}

/** What lives as long as the browser runs, also while the background sleeps. */
export const sessionStore: Store = storeOf(() => chrome.storage.session);

/** What stays. */
export const localStore: Store = storeOf(() => chrome.storage.local);

/** Takes content scripts their way to what is kept, where the browser gives them one. Firefox has no such switch. */
export function keepStoresFromContent(): void {
  for (const area of [chrome.storage.local, chrome.storage.session]) void area.setAccessLevel?.({ accessLevel: "TRUSTED_CONTEXTS" });
}

/** Called when what is kept under a name becomes another thing. */
export function onKept(key: string, listener: (value: unknown) => void): void {
  chrome.storage.session.onChanged.addListener((changes) => {
    if (changes[key] !== undefined) listener(changes[key].newValue);
  });
}

export function onTabClosed(listener: (tabId: number) => void): void {
  chrome.tabs.onRemoved.addListener(listener);
}

/** Called with its window when another tab is shown, or the one that is shown has loaded another page. */
export function onPageShown(listener: (windowId: number, tabId: number) => void): void {
  chrome.tabs.onActivated.addListener(({ windowId, tabId }) => listener(windowId, tabId));
  chrome.tabs.onUpdated.addListener((tabId, { status }, { active, windowId }) => {
    if (active && status !== undefined) listener(windowId, tabId);
  });
}

/** The tab that a window shows; its address only where the extension may see it. */
export async function shownTab(windowId: number): Promise<{ tab: number; url: string; store?: string } | undefined> {
  const [found] = await chrome.tabs.query({ active: true, windowId });
  return found?.id === undefined || found.url === undefined ? undefined : { tab: found.id, url: found.url, ...storeIn(found) };
}

/** Firefox tells it to extensions that may use cookies; Chromium has one for all pages that an extension sees. */
function storeIn(tab: chrome.tabs.Tab): { store?: string } {
  const { cookieStoreId: store } = tab as { cookieStoreId?: string };
  return store === undefined ? {} : { store };
}

/** The window of the page that asks. */
export async function ownWindow(): Promise<number | undefined> {
  return (await chrome.windows.getCurrent()).id;
}

const MARK_COLOR = "#1b6e3c";

/** Both browsers take null, which the types do not know: no mark of its own. */
const setBadge = (badge: { tabId?: number; text: string | null }) => chrome.action.setBadgeText(badge as chrome.action.BadgeTextDetails);

/** Marks the button in the toolbar while this tab is shown; without a text it has the mark of all tabs. A tab that is gone has none. */
export async function markButton(tabId: number, text: string | null, title: string): Promise<void> {
  await Promise.all([
    setBadge({ tabId, text }),
    chrome.action.setBadgeBackgroundColor({ tabId, color: MARK_COLOR }),
    chrome.action.setTitle({ tabId, title }),
  ]).catch(() => undefined);
}

/** Marks the button in all tabs that have no mark of their own; no text takes that away. */
export async function markEverywhere(text: string): Promise<void> {
  await Promise.all([setBadge({ text }), chrome.action.setBadgeBackgroundColor({ color: MARK_COLOR })]).catch(() => undefined);
}

/** Opens the extension's own options. */
export function openOptions(): Promise<void> {
  return chrome.runtime.openOptionsPage();
}

/** Opens a page in a tab of its own. Whoever calls this knows the address. */
export function openTab(url: string): void {
  void chrome.tabs.create({ url });
}

/** Shows a notice of the system's; `place` comes back when it is clicked. */
export function notify(place: string, title: string, message: string): void {
  void chrome.notifications.create(place, { type: "basic", iconUrl: chrome.runtime.getURL("icon-128.png"), title, message });
}

/** Called with the place of a notice that was clicked; the notice goes. */
export function onNoticeClicked(listener: (place: string) => void): void {
  chrome.notifications.onClicked.addListener((place) => {
    void chrome.notifications.clear(place);
    listener(place);
  });
}

/** Opens one of our pages in a small window of its own; the window's id. */
export async function openWindow(url: string, width: number, height: number): Promise<number> {
  const opened = await chrome.windows.create({ url, type: "popup", width, height, focused: true });
  if (opened?.id === undefined) throw new Error("the browser opened no window");
  return opened.id;
}

/** Closes a window, if it is still there. */
export async function closeWindow(windowId: number): Promise<void> {
  await chrome.windows.remove(windowId).catch(() => undefined);
}

export function onWindowClosed(listener: (windowId: number) => void): void {
  chrome.windows.onRemoved.addListener(listener);
}

/** Has the button in the toolbar open the sidebar. */
export function openSidebarByButton(): void {
  if (__BROWSER__ === "chrome") {
    void chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
    return;
  }
  const firefox = chrome as unknown as { sidebarAction: { toggle(): Promise<void> } };
  chrome.action.onClicked.addListener(() => void firefox.sidebarAction.toggle());
}

function storeOf(area: () => chrome.storage.StorageArea): Store {
  return {
    async get(key) {
      return (await area().get(key))[key];
    },
    set: (key, value) => area().set({ [key]: value }),
  };
}

function portOf(port: chrome.runtime.Port): Port {
  return {
    name: port.name,
    sender: senderOf(port.sender),
    post: (message) => port.postMessage(message),
    onMessage: (listener) => port.onMessage.addListener(listener),
    onDisconnect: (listener) =>
      port.onDisconnect.addListener((closed) => {
        // Firefox puts the reason on the port, Chromium into a place that has to be looked at now.
        const { error } = closed as { error?: Error | null };
        listener(error?.message ?? chrome.runtime.lastError?.message ?? "");
      }),
    disconnect: () => port.disconnect(),
  };
}

function senderOf(sender: chrome.runtime.MessageSender | undefined): Sender {
  const { id, url, origin, frameId, documentId, tab } = sender ?? {};
  const found: Sender = {};
  if (id !== undefined) found.id = id;
  if (url !== undefined) found.url = url;
  if (origin !== undefined) found.origin = origin;
  if (frameId !== undefined) found.frameId = frameId;
  if (documentId !== undefined) found.documentId = documentId;
  if (tab?.id !== undefined) found.tab = { id: tab.id, incognito: tab.incognito, ...storeIn(tab) };
  return found;
}

/** What was clicked in the menu of a page. */
export interface MenuClick {
  window: number;
  tab: number;
  url: string;
  /** The selected text; empty where none is. */
  selection: string;
  /** The address of a link, and that of a picture. */
  link?: string;
  picture?: string;
}

/** Puts an entry into the menu of web pages. The click lets the extension read that tab until it goes elsewhere. */
export function offerInMenu(id: string, title: string, clicked: (click: MenuClick) => void): void {
  // What a background before this one has put there is still there.
  chrome.contextMenus.removeAll(() => {
    const contexts: `${chrome.contextMenus.ContextType}`[] = ["page", "selection", "link", "image"];
    chrome.contextMenus.create({ id, title, contexts: contexts as [`${chrome.contextMenus.ContextType}`], documentUrlPatterns: ["http://*/*", "https://*/*"] });
  });
  chrome.contextMenus.onClicked.addListener(({ menuItemId, selectionText, linkUrl, srcUrl, pageUrl }, tab) => {
    if (menuItemId !== id || tab?.id === undefined || tab.windowId === undefined) return;
    const of = { ...(linkUrl === undefined ? {} : { link: linkUrl }), ...(srcUrl === undefined ? {} : { picture: srcUrl }) };
    clicked({ window: tab.windowId, tab: tab.id, url: tab.url ?? pageUrl ?? "", selection: selectionText ?? "", ...of });
  });
}

/** Opens the sidebar of a window: for a click only, and before anything else is waited for. */
export function openPanel(windowId: number): void {
  if (__BROWSER__ === "chrome") {
    void chrome.sidePanel.open({ windowId }).catch(() => undefined);
    return;
  }
  const firefox = chrome as unknown as { sidebarAction: { open(): Promise<void> } };
  void firefox.sidebarAction.open().catch(() => undefined);
}
