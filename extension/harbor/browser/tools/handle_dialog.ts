// `browser_handle_dialog`: how the page's next question is answered. A question stops its page, so it is answered at once: with
// no, unless this was called before; the answer that brought it said so.

import { runIn } from "../../../shared/browser/tabs.ts";
import { isOn, texts } from "../call.ts";
import type { Tool } from "../hand.ts";
import { KEPT } from "../page/commands.ts";
import { placeOf } from "../places.ts";

export const handleDialog: Tool = async ({ args, tab, documents }) => {
  const accept = isOn(args, "accept");
  const text = texts(args, "promptText");
  await documents.awake(tab.id, 0);
  await runIn(tab.id, 0, setNext, { name: KEPT, place: placeOf(tab.url), next: { accept, ...(text === undefined ? {} : { text }) } }, false);
  return { said: `The next question of this page is ${accept ? "accepted" : "dismissed"}. Now repeat the action that asks it.` };
};

function setNext({ name, place, next }: { name: string; place: string; next: { accept: boolean; text?: string } }): void {
  if ((location.origin === "null" ? location.href : location.origin) !== place) return;
  const kept = (window as unknown as { [name: string]: { next: unknown } | undefined })[name];
  if (kept !== undefined) kept.next = next;
}
