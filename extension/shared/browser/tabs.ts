// Tabs, their groups, documents and pictures, as the browser tools use them: the second file that touches the browser's API.
//
// Owns what differs between browsers there. Must never decide whose a tab is, or bring a window or a tab to the front unasked.

/** What the tools need; pages only where the person has switched them on. */
export const TOOL_PERMISSIONS = {
  permissions: ["scripting", "tabGroups", "webNavigation", "webRequest"],
  // Pictures of tabs need all of them.
  origins: ["<all_urls>"],
};

export interface TabView {
  id: number;
  windowId: number;
  /** Of the document that it shows. */
  url: string;
  /** The tab in which a page opened it. */
  opener?: number;
  /** Of one that is on its way, where the browser tells. */
  pending?: string;
  title: string;
  active: boolean;
  loading: boolean;
  isPrivate?: true;
  /** It shows nothing: its page has crashed, or the browser has thrown it out of memory. */
  without?: "crashed" | "discarded";
}

/** A page that has crashed is unloaded and was not discarded; Firefox shows a page of its own for it. */
const lossOf = ({ discarded, status }: chrome.tabs.Tab): Pick<TabView, "without"> =>
  discarded ? { without: "discarded" } : status === "unloaded" ? { without: "crashed" } : {};

const viewOf = (tab: chrome.tabs.Tab): TabView => ({
  id: tab.id ?? -1,
  windowId: tab.windowId,
  url: tab.url ?? "",
  ...(tab.pendingUrl === undefined ? {} : { pending: tab.pendingUrl }),
  ...(tab.openerTabId === undefined ? {} : { opener: tab.openerTabId }),
  title: tab.title ?? "",
  active: tab.active,
  loading: tab.status === "loading",
  ...(tab.incognito ? { isPrivate: true } : {}),
  ...lossOf(tab),
});

/** What scripts of clients in pages need besides; both browsers leave that to the person. */
const SCRIPT_PERMISSIONS = { permissions: ["userScripts"] } as unknown as chrome.permissions.Permissions;

/** Has to be called from a click. */
export const askForScripts = (): Promise<boolean> => chrome.permissions.request(SCRIPT_PERMISSIONS);

interface UserScripts {
  execute?(injection: object): Promise<{ result?: unknown; error?: unknown }[]>;
  getScripts(): Promise<unknown>;
}

const userScripts = (): UserScripts | undefined => (chrome as unknown as { userScripts?: UserScripts }).userScripts;

/** Whether scripts of clients can run: the permission is there, and in Chromium the person has switched on "Allow User Scripts" for the extension. */
export async function mayRunScripts(): Promise<boolean> {
  if (!(await chrome.permissions.contains(SCRIPT_PERMISSIONS).catch(() => false))) return false;
  // Chromium has the interface without the switch, and refuses each call.
  const areAllowed = await userScripts()?.getScripts().then(() => true, () => false);
  return areAllowed === true && typeof userScripts()?.execute === "function";
}

/** The document that a frame shows now, and where it is from, by its own world's word. */
export async function documentIn(tabId: number, frameId: number): Promise<{ id: string; origin: string } | undefined> {
  const func = () => self.origin;
  const [found] = await chrome.scripting.executeScript({ target: { tabId, frameIds: [frameId] }, func, injectImmediately: true });
  return found?.documentId === undefined || typeof found.result !== "string" ? undefined : { id: found.documentId, origin: found.result };
}

/** Runs code in the page's own world of a document, and of no other one; what it gives, or resolves with. */
export async function runCode(tabId: number, documentId: string, code: string): Promise<unknown> {
  const [found] = (await userScripts()?.execute?.({ target: { tabId, documentIds: [documentId] }, js: [{ code }], world: "MAIN", injectImmediately: true })) ?? [];
  if (found?.error !== undefined) throw found.error instanceof Error ? found.error : new Error(String(found.error));
  return found?.result;
}

export const mayUsePages = (): Promise<boolean> => chrome.permissions.contains(TOOL_PERMISSIONS as chrome.permissions.Permissions);

/** Has to be called from a click. */
export const askForPages = (): Promise<boolean> => chrome.permissions.request(TOOL_PERMISSIONS as chrome.permissions.Permissions);

/** The addresses of a site, as permissions name them: without a port, which Firefox has no word for. */
const placesOf = (origin: string): chrome.permissions.Permissions => ({ origins: [`${origin.replace(/:\d+$/, "")}/*`] });

/** Whether the person has let the extension read a site. */
export const mayReadSite = (origin: string): Promise<boolean> => chrome.permissions.contains(placesOf(origin));

/** Has to be called from a click, before anything is waited for; at once true where it is allowed already. */
export const askForSite = (origin: string): Promise<boolean> => chrome.permissions.request(placesOf(origin));

/** Browsers give pictures of tabs to whoever may read all sites. */
const ALL_SITES = { origins: ["<all_urls>"] };
export const mayReadAllSites = (): Promise<boolean> => chrome.permissions.contains(ALL_SITES);
export const askForAllSites = (): Promise<boolean> => chrome.permissions.request(ALL_SITES);

/** The names and addresses of all tabs, not what stands in them. */
const TAB_NAMES: chrome.permissions.Permissions = { permissions: ["tabs"] };
export const maySeeTabs = (): Promise<boolean> => chrome.permissions.contains(TAB_NAMES);
export const askForTabs = (): Promise<boolean> => chrome.permissions.request(TAB_NAMES);

export function onPermissions(listener: () => void): void {
  chrome.permissions.onAdded.addListener(listener);
  chrome.permissions.onRemoved.addListener(listener);
}

/** A tab behind the others, in the window that the person uses. `beside`: it belongs to that one, whose container it has in Firefox. */
export async function openBehind(url: string, beside?: number): Promise<TabView> {
  return viewOf(await chrome.tabs.create({ url, active: false, ...(beside === undefined ? {} : { openerTabId: beside }) }));
}

/** The tab, if it is there. */
export async function tabOf(id: number): Promise<TabView | undefined> {
  // Chromium throws at what can be no tab, and rejects nothing.
  const tab = id < 0 ? undefined : await chrome.tabs.get(id).catch(() => undefined);
  return tab === undefined ? undefined : viewOf(tab);
}

/** The tab that a window shows. */
export async function tabShownIn(windowId: number): Promise<TabView | undefined> {
  const [tab] = await chrome.tabs.query({ active: true, windowId });
  return tab === undefined ? undefined : viewOf(tab);
}

/** All tabs, in their order; addresses and titles as far as the extension may see them. */
export async function allTabs(): Promise<TabView[]> {
  return (await chrome.tabs.query({})).map(viewOf);
}

/** The tab of the page that asks, where it is in one. */
export const ownTab = async (): Promise<number | undefined> => (await chrome.tabs.getCurrent())?.id;

export const goTo = async (id: number, url: string): Promise<void> => void (await chrome.tabs.update(id, { url }));
export const reload = (id: number): Promise<void> => chrome.tabs.reload(id);
export const closeTabs = (ids: number[]): Promise<void> => chrome.tabs.remove(ids).catch(() => undefined);

/** Shows a tab in its window; only where that was asked for. */
export const showTab = async (id: number): Promise<void> => void (await chrome.tabs.update(id, { active: true }));

/** The size of a tab's window; a window that is as large as the screen is made smaller. */
export async function resizeWindow(windowId: number, width: number, height: number): Promise<void> {
  await chrome.windows.update(windowId, { state: "normal" });
  await chrome.windows.update(windowId, { width, height });
}

const COLOURS = ["blue", "green", "purple", "orange", "cyan", "pink", "yellow", "red", "grey"];

/** Puts a tab into a group, a new one where there is none; the group's id. */
export async function group(tabId: number, known: number | undefined, title: string, colour: string): Promise<number> {
  const into = known !== undefined && (await hasGroup(known)) ? { groupId: known } : {};
  const id = await chrome.tabs.group({ tabIds: [tabId], ...into });
  const color = (COLOURS.includes(colour) ? colour : "blue") as `${chrome.tabGroups.Color}`;
  await chrome.tabGroups.update(id, { title, color });
  return id;
}

const hasGroup = async (id: number): Promise<boolean> => (await chrome.tabGroups.get(id).catch(() => undefined)) !== undefined;

export const ungroup = async (ids: number[]): Promise<void> => void (await chrome.tabs.ungroup(ids as [number, ...number[]]).catch(() => undefined));

/** What runs in a document gets one argument and gives what can be copied; nothing where the frame is gone. */
export async function runIn<A, R>(tabId: number, frameId: number, run: (argument: A) => R, argument: A, own = true): Promise<Awaited<R> | undefined> {
  const [found] = await chrome.scripting.executeScript({
    target: { tabId, frameIds: [frameId] },
    func: run as (...args: unknown[]) => unknown,
    args: [argument],
    world: own ? "ISOLATED" : "MAIN",
    injectImmediately: true,
  });
  // Chromium gives null where the document went away and its frame has another one by now.
  return (found?.result ?? undefined) as Awaited<R> | undefined;
}

/** Puts one of our files into a document. */
export async function placeIn(tabId: number, frameId: number, file: string, own = true): Promise<void> {
  await chrome.scripting.executeScript({ target: { tabId, frameIds: [frameId] }, files: [file], world: own ? "ISOLATED" : "MAIN", injectImmediately: true });
}

/** The same in the page's own world of several frames; of one that is gone there is nothing. */
export async function runInEach<A, R>(tabId: number, frameIds: number[], run: (argument: A) => R, argument: A): Promise<(Awaited<R> | undefined)[]> {
  const injection = { func: run as (...args: unknown[]) => unknown, args: [argument], world: "MAIN" as const, injectImmediately: true };
  const found = await chrome.scripting.executeScript({ target: { tabId, frameIds }, ...injection }).catch(() => undefined);
  if (found !== undefined) return found.map(({ result }) => (result ?? undefined) as Awaited<R> | undefined);
  return Promise.all(frameIds.map((frameId) => runIn(tabId, frameId, run, argument, false).catch(() => undefined)));
}

/** What Chromium calls the file that is in documents before their scripts. */
const EARLY = "harbor-early";

/**
 * Has one of our files in the page's own world of each document of these hosts, before its scripts; of none where there are none.
 * Firefox is asked at each document, and is in time.
 */
export async function placeEarly(file: string, hosts: string[]): Promise<void> {
  if (__BROWSER__ !== "chrome") return;
  const there = (await chrome.scripting.getRegisteredContentScripts({ ids: [EARLY] })).length > 0;
  // Patterns have no word for addresses in brackets.
  const named = hosts.filter((host) => !host.startsWith("["));
  if (named.length === 0) return there ? chrome.scripting.unregisterContentScripts({ ids: [EARLY] }) : undefined;
  const script = { id: EARLY, js: [file], matches: named.map((host) => `*://${host}/*`), allFrames: true, runAt: "document_start" as const, world: "MAIN" as const };
  await (there ? chrome.scripting.updateContentScripts([script]) : chrome.scripting.registerContentScripts([{ ...script, persistAcrossSessions: false }]));
}

export interface FrameView {
  frameId: number;
  parentFrameId: number;
  url: string;
}

export async function framesOf(tabId: number): Promise<FrameView[]> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  const known = frames.map(({ frameId, parentFrameId, url }) => ({ frameId, parentFrameId, url }));
  if (!restored.has(tabId)) return known;
  const lost = (await Promise.race([framesThatRun(tabId), new Promise<[]>((done) => setTimeout(() => done([]), FRAMES_MS))])).filter(({ frameId }) => !known.some((frame) => frame.frameId === frameId));
  return [...known, ...lost];
}

/** Tabs whose page came back out of the browser's memory: Chromium names no frames of such a page. */
const restored = new Set<number>();

/** True if the page of a tab came back out of the browser's memory, or was gone back to. */
export const isGoneBackTo = (tabId: number): boolean => restored.has(tabId);

/** How long frames are waited for that the browser does not name, in milliseconds. */
const FRAMES_MS = 1_000;

/** The frames in which something may run. One without an address is where its maker is, which it says itself. */
async function framesThatRun(tabId: number): Promise<FrameView[]> {
  const func = () => (location.origin === "null" ? self.origin : location.href);
  const found = await chrome.scripting.executeScript({ target: { tabId, allFrames: true }, func, injectImmediately: true }).catch(() => []);
  return found.flatMap(({ frameId, result }) => (typeof result === "string" ? [{ frameId, parentFrameId: -1, url: result }] : []));
}

export interface Navigation {
  tabId: number;
  frameId: number;
  url: string;
}

/** Firefox gives the document's address, Chromium its origin. */
interface Asked {
  requestId: string;
  tabId: number;
  method: string;
  url: string;
  type: string;
  timeStamp: number;
  documentUrl?: string;
  initiator?: string;
}

export interface TabListener {
  /** A document is about to be loaded, has begun, is there, or could not be loaded. */
  before(navigation: Navigation): void;
  committed(navigation: Navigation): void;
  loaded(navigation: Navigation): void;
  /** The document has another address, and is the same. */
  moved(navigation: Navigation): void;
  failed(navigation: Navigation & { error: string }): void;
  /** A page has opened another tab. */
  opened(tabId: number, openerId: number, url: string): void;
  closed(tabId: number): void;
  /** The same tab has another id: Chromium does that when it discards one. */
  replaced(tabId: number, before: number): void;
  /** The tab that a window shows now. */
  shown(tabId: number, windowId: number): void;
  /** It was taken out of its group, or into another one; -1 for none. */
  grouped(tabId: number, groupId: number): void;
  /** What came for a tab's own document begins. `isFile`: it is to be saved. */
  responded(response: { tabId: number; status: number; isFile: boolean }): void;
  answered(request: RequestView): void;
}

/** A request of a page, as far as the browser tells. */
export interface RequestView {
  /** What the browser calls it. */
  id: string;
  tabId: number;
  method: string;
  url: string;
  kind: string;
  status?: number;
  error?: string;
  at: number;
  /** Where what asked comes from, as far as the browser tells. */
  from?: string;
}

/** Whether the events are there: the browser has them only with the permissions. */
export function listen(listener: TabListener): void {
  const { webNavigation } = chrome;
  webNavigation.onBeforeNavigate.addListener(({ tabId, frameId, url }) => listener.before({ tabId, frameId, url }));
  webNavigation.onCommitted.addListener(({ tabId, frameId, url, transitionQualifiers }) => {
    if (frameId === 0) (transitionQualifiers?.includes("forward_back") ? restored.add(tabId) : restored.delete(tabId));
    listener.committed({ tabId, frameId, url });
  });
  webNavigation.onHistoryStateUpdated.addListener(({ tabId, frameId, url }) => listener.moved({ tabId, frameId, url }));
  webNavigation.onReferenceFragmentUpdated.addListener(({ tabId, frameId, url }) => listener.moved({ tabId, frameId, url }));
  // A page that comes back out of the browser's memory is there at once.
  webNavigation.onCompleted.addListener(({ tabId, frameId, url }) => listener.loaded({ tabId, frameId, url }));
  webNavigation.onDOMContentLoaded.addListener(({ tabId, frameId, url }) => listener.loaded({ tabId, frameId, url }));
  webNavigation.onErrorOccurred.addListener((details) => {
    const { tabId, frameId, url } = details;
    listener.failed({ tabId, frameId, url, error: (details as { error?: string }).error ?? "" });
  });
  webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId, url }) => listener.opened(tabId, sourceTabId, url));
  chrome.tabs.onActivated.addListener(({ tabId, windowId }) => listener.shown(tabId, windowId));
  void chrome.tabs.query({ active: true }).then((tabs) => {
    for (const { id, windowId } of tabs) if (id !== undefined) listener.shown(id, windowId);
  });
  chrome.tabs.onRemoved.addListener((tabId) => {
    restored.delete(tabId);
    listener.closed(tabId);
  });
  chrome.tabs.onReplaced.addListener((tabId, before) => listener.replaced(tabId, before));
  chrome.tabs.onUpdated.addListener((tabId, changed) => {
    if (changed.groupId !== undefined) listener.grouped(tabId, changed.groupId);
  });
  const filter = { urls: TOOL_PERMISSIONS.origins };
  const seen = ({ requestId: id, tabId, method, url, type, timeStamp, ...of }: Asked) => {
    const from = of.documentUrl ?? of.initiator;
    return { id, tabId, method, url, kind: type, at: timeStamp, ...(from === undefined ? {} : { from }) };
  };
  const isFile = ({ name, value }: { name: string; value?: string }) => name.toLowerCase() === "content-disposition" && /^\s*attachment/i.test(value ?? "");
  chrome.webRequest.onHeadersReceived.addListener(
    ({ tabId, statusCode, responseHeaders = [] }) => {
      listener.responded({ tabId, status: statusCode, isFile: responseHeaders.some(isFile) });
      return undefined;
    },
    { ...filter, types: ["main_frame"] },
    ["responseHeaders"],
  );
  chrome.webRequest.onCompleted.addListener((details) => listener.answered({ ...seen(details), status: details.statusCode }), filter);
  chrome.webRequest.onErrorOccurred.addListener((details) => listener.answered({ ...seen(details), error: details.error }), filter);
}

/** Chromium gives so many pictures of what windows show within so long, in milliseconds. */
const PICTURES = 2;
const PICTURES_MS = 1_050;

let queue: Promise<unknown> = Promise.resolve();
const taken: number[] = [];

/** Takes a picture when it is the next one's turn. */
function inTurn<T>(take: () => Promise<T>): Promise<T> {
  const next = queue.then(async () => {
    const rest = (taken.at(-PICTURES) ?? 0) + PICTURES_MS - Date.now();
    if (rest > 0) await new Promise((done) => setTimeout(done, rest));
    taken.splice(0, taken.length - PICTURES + 1);
    // The browser counts from when it was asked.
    taken.push(Date.now());
    return take();
  });
  queue = next.catch(() => undefined);
  return next;
}

/** The browser draws what the window shows: nothing where that is, or was meanwhile, another tab. */
async function pictureOfShown({ id, windowId }: TabView): Promise<string | undefined> {
  const isShown = async () => {
    const now = await tabOf(id);
    return now?.active === true && now.windowId === windowId;
  };
  let isSwitched = false;
  const hear = (shown: { windowId: number }) => void (isSwitched ||= shown.windowId === windowId);
  chrome.tabs.onActivated.addListener(hear);
  try {
    if (!(await isShown())) return undefined;
    const picture = await chrome.tabs.captureVisibleTab(windowId, { format: "png" });
    return (await isShown()) && !isSwitched ? picture : undefined;
  } finally {
    chrome.tabs.onActivated.removeListener(hear);
  }
}

/**
 * Says when the document that a tab shows has gone, or its tab. What a browser tells of a tab without a permission for that is told of
 * frames in it, too: so it is looked whether another document is there.
 */
export function leavesOf(tabId: number): { gone: Promise<void>; stop(): void } {
  const born = () => runIn(tabId, 0, () => performance.timeOrigin, null).catch(() => undefined);
  let stop = (): void => undefined;
  const gone = new Promise<void>((resolve) => {
    const first = born();
    const closed = (id: number) => void (id === tabId && resolve());
    const updated = (id: number, { status }: { status?: string }) => {
      if (id !== tabId || status === undefined) return;
      void Promise.all([first, born()]).then(([before, after]) => before === undefined || before !== after ? resolve() : undefined);
    };
    chrome.tabs.onRemoved.addListener(closed);
    chrome.tabs.onUpdated.addListener(updated);
    stop = () => {
      chrome.tabs.onRemoved.removeListener(closed);
      chrome.tabs.onUpdated.removeListener(updated);
    };
  });
  return { gone, stop: () => stop() };
}

/** Called when a tab may show another document, or begins to load one. */
export function onTabUpdated(listener: (tabId: number) => void): void {
  chrome.tabs.onUpdated.addListener((tabId, { status, url }) => {
    if (status !== undefined || url !== undefined) listener(tabId);
  });
}

/** Does something that has a tab load a page, and waits until that is there; false: it is not within so long. */
export async function loadedAfter(tabId: number, begin: () => Promise<void>, most: number): Promise<boolean> {
  let hear: Parameters<typeof chrome.tabs.onUpdated.addListener>[0] = () => undefined;
  const loaded = new Promise<boolean>((resolve) => {
    hear = (id, { status }) => void (id === tabId && status === "complete" && resolve(true));
    setTimeout(resolve, most, false);
  });
  chrome.tabs.onUpdated.addListener(hear);
  try {
    await begin();
    return await loaded;
  } finally {
    chrome.tabs.onUpdated.removeListener(hear);
  }
}

/**
 * Waits until a tab goes elsewhere, or is on its way there already; false: it has not within so long. Where it is told of goes without a new
 * document, only where the extension may see the tab's address.
 */
export async function goesElsewhere(tabId: number, most: number, signal: AbortSignal): Promise<boolean> {
  let hear: Parameters<typeof chrome.tabs.onUpdated.addListener>[0] = () => undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const gone = new Promise<boolean>((resolve, reject) => {
    hear = (id, { status, url }) => void (id === tabId && (status === "loading" || url !== undefined) && resolve(true));
    timer = setTimeout(resolve, most, false);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  chrome.tabs.onUpdated.addListener(hear);
  try {
    return (await tabOf(tabId))?.loading === true || (await gone);
  } finally {
    clearTimeout(timer);
    chrome.tabs.onUpdated.removeListener(hear);
    gone.catch(() => undefined);
  }
}

/** What is to be seen of a tab, a PNG as a data URL; nothing where the browser draws no tab that is not shown. */
export async function pictureOf(tab: TabView): Promise<string | undefined> {
  if (__BROWSER__ === "firefox") {
    const firefox = chrome as unknown as { tabs: { captureTab(id: number, options: object): Promise<string> } };
    return firefox.tabs.captureTab(tab.id, { format: "png" });
  }
  return tab.active ? inTurn(() => pictureOfShown(tab)) : undefined;
}
