// Which profile of a browser a page is in: what the person allows a site there holds in no other one.
//
// Pure. Owns the names: each container of Firefox is one; the bridge names the browser's own, the first that came to it `default`. Must never
// be told one by a page: it is the browser's word about a tab.

/** The profile of whoever names none. */
export const DEFAULT_PROFILE = "default";

/** What Firefox calls the store of tabs that are in no container. */
const NO_CONTAINER = "firefox-default";

/** The profile of a tab, by where the browser keeps the cookies of its pages; `undefined`: the default one. */
export function profileOf(store: string | undefined): string | undefined {
  return store === undefined || store === NO_CONTAINER ? undefined : `container:${store}`;
}

/** What the bridge calls the profile of each browser after the first. */
const OTHER_BROWSER = /^browser:([0-9a-f]{8,32})$/;

/** Whether this is the name of a container. */
export const isContainer = (value: unknown): value is string => typeof value === "string" && /^container:[\w.-]{1,100}$/.test(value);

/** Whether pages may be in a profile of this name. Each other one is the person's own, by the command line. */
export function isOfPages(profile: string): boolean {
  const [browser = "", container, more] = profile.split("/");
  if (profile === DEFAULT_PROFILE || isContainer(profile)) return true;
  return OTHER_BROWSER.test(browser) && (container === undefined || isContainer(container)) && more === undefined;
}

/** A site in its profile, as what is kept for one of them alone is named. */
export const placeOf = ({ origin, profile }: { origin: string; profile?: string }): string => (profile === undefined ? origin : `${origin} ${profile}`);

/** How people call a profile: Firefox tells a container's own name to nobody who may not change containers. */
export function profileWords(profile: string): string {
  return profile.split("/").map(partWords).join(", ");
}

function partWords(part: string): string {
  const number = /^container:firefox-container-(\d+)$/.exec(part)?.[1];
  if (number !== undefined) return `Container ${number}`;
  const browser = OTHER_BROWSER.exec(part)?.[1];
  return browser === undefined ? part : `Browser ${browser}`;
}
