// The tab groups of sessions: one each, with the session's name and colour.
//
// Owns which group is whose. Must never decide whose a tab is: the person moves tabs between groups, the bridge says what that means.

import { group } from "../../shared/browser/tabs.ts";

export class Groups {
  readonly #groups = new Map<string, number>();
  /** Tabs that are being put into their session's group. */
  readonly #moving = new Set<number>();

  /** Puts a tab into its session's group. */
  async put(tabId: number, session: string, { label, colour }: { label: string; colour: string }): Promise<void> {
    // A group ends with its last tab. The browser tells of the tab in a new one before it tells that one's id.
    this.#moving.add(tabId);
    try {
      this.#groups.set(session, await group(tabId, this.#groups.get(session), label, colour));
    } finally {
      this.#moving.delete(tabId);
    }
  }

  /** The session that has this group. */
  sessionOf(groupId: number): string | undefined {
    return [...this.#groups].find(([, id]) => id === groupId)?.[0];
  }

  /** Whether a session's tab that is in this group now was put there by the person. */
  isOut(tabId: number, session: string, groupId: number): boolean {
    const own = this.#groups.get(session);
    return own !== undefined && groupId !== own && !this.#moving.has(tabId);
  }

  forget(session: string): void {
    this.#groups.delete(session);
  }
}
