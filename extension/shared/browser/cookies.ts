// Cookies, as the browser keeps them: the fifth file that touches the browser's API.
//
// Owns what differs between browsers there. Must never decide whose cookies may be used.

/** Asked for when the person lets apps use cookies. */
const PERMISSION: chrome.permissions.Permissions = { permissions: ["cookies"] };

export const mayUseCookies = (): Promise<boolean> => chrome.permissions.contains(PERMISSION);
/** Has to be called from a click. */
export const askForCookies = (): Promise<boolean> => chrome.permissions.request(PERMISSION);
export const leaveCookies = (): Promise<boolean> => chrome.permissions.remove(PERMISSION);

export const SAME_SITE = ["Strict", "Lax", "None"] as const;

export interface CookieView {
  name: string;
  value: string;
  /** Without the dot that some begin with. */
  domain: string;
  /** It is sent to this host alone, and to none below it. */
  isHostOnly: boolean;
  path: string;
  /** In seconds; with the browser's session where there is none. */
  expires?: number;
  httpOnly: boolean;
  secure: boolean;
  sameSite?: (typeof SAME_SITE)[number];
}

const SAME: { [name: string]: CookieView["sameSite"] } = { strict: "Strict", lax: "Lax", no_restriction: "None" };
const SAME_BACK = { Strict: "strict", Lax: "lax", None: "no_restriction" } as const;

const viewOf = ({ name, value, domain, hostOnly, path, expirationDate, httpOnly, secure, sameSite }: chrome.cookies.Cookie): CookieView => {
  const same = SAME[sameSite];
  return {
    ...{ name, value, domain: domain.replace(/^\./, ""), isHostOnly: hostOnly, path, httpOnly, secure },
    ...(expirationDate === undefined ? {} : { expires: expirationDate }),
    ...(same === undefined ? {} : { sameSite: same }),
  };
};

/** The store that a tab uses: Firefox has one for each of its containers. */
async function storeOf(tabId: number): Promise<{ storeId?: string }> {
  const store = (await chrome.cookies.getAllCookieStores()).find(({ tabIds }) => tabIds.includes(tabId));
  return store === undefined ? {} : { storeId: store.id };
}

/** The cookies of a domain and of those below it, in the store of a tab. */
export async function cookiesBelow(tabId: number, domain: string): Promise<CookieView[]> {
  return (await chrome.cookies.getAll({ domain, ...(await storeOf(tabId)) })).map(viewOf);
}

/** Sets a cookie as `origin` would; false where the browser does not take it. */
export async function setCookie(tabId: number, origin: string, { name, value, domain, isHostOnly, path, expires, httpOnly, secure, sameSite }: CookieView): Promise<boolean> {
  const of = isHostOnly ? {} : { domain };
  const more = { ...(expires === undefined ? {} : { expirationDate: expires }), ...(sameSite === undefined ? {} : { sameSite: SAME_BACK[sameSite] }) };
  const set = chrome.cookies.set({ url: `${origin}${path}`, name, value, path, httpOnly, secure, ...of, ...more, ...(await storeOf(tabId)) });
  return (await set.catch(() => null)) !== null;
}

export async function removeCookie(tabId: number, { name, domain, path, secure }: CookieView): Promise<void> {
  await chrome.cookies.remove({ url: `${secure ? "https" : "http"}://${domain}${path}`, name, ...(await storeOf(tabId)) });
}
