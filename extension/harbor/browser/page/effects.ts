// What an action began in a page, until that has ended: the page's own world knows it (`own_effects.ts`) and is asked by events.
//
//   begin ─► the action ─► end ─► is anything of it under way? ─► yes: a moment later, again
//                                                             ─► no: it is over
//
// Owns the questions. Whatever is answered is the page's word: nobody waits for it longer than a limit.

import { EFFECTS } from "./commands.ts";

const said = (what: keyof typeof EFFECTS): boolean => !document.dispatchEvent(new Event(EFFECTS[what], { cancelable: true }));

/** From now on what the page begins is the action's. */
export const begin = (): unknown => said("begin");

/** The action itself has been done. */
export const end = (): unknown => said("end");

/** True while a short timer, or with `requests` a request, of the action's is under way. Timers that are due run meanwhile. */
export const isUnderWay = (requests: boolean): boolean => said("timers") || (requests && said("requests"));

/** True if the action has opened a window. */
export const hasOpened = (): boolean => said("opened");

/** Settles after what the page has to do now, by a way that a tab has also while it is not shown. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
