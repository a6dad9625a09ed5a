// Downloads, as the browser tells of them: the fourth file that touches the browser's API.
//
// Owns what is read of one. Must never begin, stop or open a download.

/** Asked for when the person lets apps see what their tabs download. */
const PERMISSION: chrome.permissions.Permissions = { permissions: ["downloads"] };

export const mayFollowDownloads = (): Promise<boolean> => chrome.permissions.contains(PERMISSION);
/** Has to be called from a click. */
export const askForDownloads = (): Promise<boolean> => chrome.permissions.request(PERMISSION);
export const leaveDownloads = (): Promise<boolean> => chrome.permissions.remove(PERMISSION);

/** A download, as far as the browser tells. */
export interface DownloadView {
  id: number;
  url: string;
  /** The page that it was begun in; empty where the browser does not tell. */
  referrer: string;
  /** Of the file that is saved; empty while that is not chosen. */
  path: string;
  mime: string;
  bytes: number;
  total?: number;
  state: "in_progress" | "complete" | "interrupted";
  error?: string;
  isPrivate: boolean;
}

const viewOf = ({ id, url, finalUrl, referrer, filename, mime, bytesReceived, totalBytes, fileSize, state, error, incognito }: chrome.downloads.DownloadItem): DownloadView => ({
  ...{ id, url: finalUrl || url, referrer: referrer ?? "", path: filename, mime: mime ?? "", isPrivate: incognito },
  ...{ bytes: state === "complete" && fileSize > 0 ? fileSize : bytesReceived, state: state as DownloadView["state"] },
  ...(totalBytes >= 0 ? { total: totalBytes } : {}),
  ...(error === undefined || error === null ? {} : { error: String(error) }),
});

export async function downloadOf(id: number): Promise<DownloadView | undefined> {
  const [found] = await chrome.downloads.search({ id });
  return found === undefined ? undefined : viewOf(found);
}

export interface DownloadListener {
  /** One has begun. */
  began(download: DownloadView): void;
  /** Something of it is another. */
  changed(id: number): void;
  /** What comes for a tab begins. `isFile`: it is to be saved. */
  came(tabId: number, url: string, isFile: boolean): void;
}

/** Calls from now on; the browser has the events only with the permission. */
export function listenToDownloads(listener: DownloadListener): void {
  chrome.downloads.onCreated.addListener((item) => listener.began(viewOf(item)));
  chrome.downloads.onChanged.addListener(({ id }) => listener.changed(id));
  const isFile = ({ name, value }: { name: string; value?: string }) => name.toLowerCase() === "content-disposition" && /^\s*attachment/i.test(value ?? "");
  const types = ["main_frame", "sub_frame", "other"] as [`${chrome.webRequest.ResourceType}`, ...`${chrome.webRequest.ResourceType}`[]];
  chrome.webRequest.onHeadersReceived.addListener(
    ({ tabId, url, responseHeaders = [] }) => {
      listener.came(tabId, url, responseHeaders.some(isFile));
      return undefined;
    },
    { urls: ["<all_urls>"], types: types as chrome.webRequest.ResourceType[] },
    ["responseHeaders"],
  );
}
