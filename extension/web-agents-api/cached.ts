// What is stored, kept at hand: it is asked at each request of a page.
//
// Pure but for the store. Whoever writes past it is not seen: one background alone writes.

import type { Store } from "../shared/browser/api.ts";

/** The same store, which is read once for each key. */
export function cached(store: Store): Store {
  const known = new Map<string, Promise<unknown>>();
  return {
    get(key) {
      const found = known.get(key) ?? store.get(key);
      known.set(key, found);
      // What could not be read is read again.
      found.catch(() => known.delete(key));
      return found;
    },
    async set(key, value) {
      known.delete(key);
      await store.set(key, value);
      known.delete(key);
    },
  };
}
