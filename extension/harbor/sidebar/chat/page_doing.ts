// What the person does with the page: switch it on for a site, attach it or a part of it once, never.
//
// Owns the order: the browser is asked first, in the click itself; then the page is judged; then it is read. Must never send anything.

import { askForAllSites, askForSite, tabOf } from "../../../shared/browser/tabs.ts";
import type { PageText } from "../../page/forms.ts";
import type { Hands } from "../hands.ts";
import type { Attached } from "../store.ts";
import { add } from "./attaching.ts";
import { put, typed } from "./field.ts";
import { changePage, choiceOf, choose, hostsOf, lookAtPage } from "./page_open.ts";
import { roomFor } from "./page_parts.ts";
import { type OpenPage, standingOf } from "./page_rules.ts";
import { PageError, askPage, attachedPage, readPage, readPicked, readSelection, takePicture } from "./page_take.ts";
import { modelOf } from "./picking.ts";

/** Under which name work with the page is under way. */
export const PAGE_ACT = "page";

const REFUSED = "The browser did not get your yes for this site, so nothing was read. Click again to be asked again.";
const BLIND = "This model does not say that it sees pictures. Choose one that does.";

/** Does something with the page; what goes wrong is said above the field. */
export function withPage(hands: Hands, work: (signal: AbortSignal) => Promise<void>, act = PAGE_ACT): void {
  changePage(hands, { problem: undefined });
  hands.act(act, async (signal) => {
    try {
      await work(signal);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof PageError)) throw error;
      changePage(hands, { problem: error.message });
    }
  });
}

/** Has the browser let the page be read: has to be the first that a click does. */
export async function allowed(hands: Hands): Promise<OpenPage> {
  const { open, mayRead } = hands.state.page;
  if (open?.origin === undefined) throw new PageError(standingOf(hands.state.page).why ?? REFUSED);
  if (!mayRead && !(await askForSite(open.origin).catch(() => false))) throw new PageError(REFUSED);
  await judged(hands, open.origin);
  return open;
}

/** The rules as they are now: what the person has blocked is never read. */
async function judged(hands: Hands, origin: string): Promise<void> {
  const [hosts, choice] = await Promise.all([hostsOf(hands), choiceOf(origin)]);
  const { is, why } = standingOf({ choice, open: { tab: 0, origin, isPrivate: false, isLoading: false }, hosts, read: undefined });
  if (is === "never" || is === "none") throw new PageError(why ?? REFUSED);
}

/** How many tokens of a page the model of this chat takes. */
export function roomOf(hands: Hands): number {
  const id = modelOf(hands);
  return roomFor(hands.state.models?.list.find((model) => model.id === id)?.context_window);
}

/** Attaches something; the person goes on in the field. */
export function attach(hands: Hands, one: Attached): void {
  add(hands, one);
  put(typed());
}

function attachText(hands: Hands, text: PageText): void {
  if (text.text.trim() === "") throw new PageError("There is no text in this page, so nothing was attached.");
  attach(hands, attachedPage(text, roomOf(hands)));
}

/** Whether the page goes with messages of its site. */
export function switchPage(hands: Hands, isOn: boolean): void {
  withPage(hands, async () => {
    const { open } = hands.state.page;
    if (!isOn) return open?.origin === undefined ? undefined : choose(hands, open.origin, "off");
    const { origin } = await allowed(hands);
    await choose(hands, origin ?? "", "on");
  });
}

export function neverHere(hands: Hands, isNever: boolean): void {
  withPage(hands, async () => {
    const { origin } = hands.state.page.open ?? {};
    if (origin !== undefined) await choose(hands, origin, isNever ? "never" : "off");
  });
}

/** Shows what the model would get. */
export function lookInside(hands: Hands): void {
  if (hands.state.page.isShown) return changePage(hands, { isShown: false });
  withPage(hands, async () => {
    const { tab } = await allowed(hands);
    const read = await readPage(tab);
    changePage(hands, { read, isShown: true, mayRead: true });
  });
}

export function attachPage(hands: Hands): void {
  withPage(hands, async () => attachText(hands, await readPage((await allowed(hands)).tab)));
}

export function attachSelection(hands: Hands): void {
  withPage(hands, async () => attachText(hands, await readSelection((await allowed(hands)).tab)));
}

export function attachPicked(hands: Hands): void {
  withPage(hands, async () => {
    const { tab } = await allowed(hands);
    changePage(hands, { picking: tab });
    try {
      const picked = await readPicked(tab);
      if (picked !== undefined) attachText(hands, picked);
    } finally {
      changePage(hands, { picking: undefined });
    }
  });
}

export function stopPicking(hands: Hands): void {
  const { picking } = hands.state.page;
  if (picking !== undefined) void askPage(picking, "cancel", {}).catch(() => undefined);
}

export function attachPicture(hands: Hands): void {
  withPage(hands, async () => {
    const id = modelOf(hands);
    if (hands.state.models?.list.find((model) => model.id === id)?.vision !== true) throw new PageError(BLIND);
    if (!hands.state.page.mayPicture && !(await askForAllSites().catch(() => false))) throw new PageError("The browser gives pictures of tabs only to who may read all sites. You did not allow that, so there is none.");
    changePage(hands, { mayRead: true });
    const { tab } = await allowed(hands);
    const shown = await tabOf(tab);
    if (shown !== undefined) attach(hands, await takePicture(shown));
  });
}

/** A page of another tab; `mayRead`: the browser has not to be asked. */
export function attachTab(hands: Hands, tab: number, origin: string, mayRead: boolean): void {
  withPage(hands, async () => {
    if (!mayRead && !(await askForSite(origin).catch(() => false))) throw new PageError(REFUSED);
    await judged(hands, origin);
    attachText(hands, await readPage(tab));
    void lookAtPage(hands);
  });
}
