// Which profile of a browser a page is in: what the person allows a site there holds in no other one.
//
// Pure. Owns the names: in Firefox each container is one, all else is `default`. Must never be told one by a page: it is the browser's word
// about a tab.

/** The profile of whoever names none. */
export const DEFAULT_PROFILE = "default";

/** What Firefox calls the store of tabs that are in no container. */
const NO_CONTAINER = "firefox-default";

/** The profile of a tab, by where the browser keeps the cookies of its pages; `undefined`: the default one. */
export function profileOf(store: string | undefined): string | undefined {
  return store === undefined || store === NO_CONTAINER ? undefined : `container:${store}`;
}

/** Whether this is the name of a profile besides the default one. */
export const isProfile = (value: unknown): value is string => typeof value === "string" && /^container:[\w.-]{1,100}$/.test(value);

/** A site in its profile, as what is kept for one of them alone is named. */
export const placeOf = ({ origin, profile }: { origin: string; profile?: string }): string => (profile === undefined ? origin : `${origin} ${profile}`);

/** How people call a profile: Firefox tells a container's own name to nobody who may not change containers. */
export function profileWords(profile: string): string {
  const number = /^container:firefox-container-(\d+)$/.exec(profile)?.[1];
  return number === undefined ? profile : `Container ${number}`;
}
