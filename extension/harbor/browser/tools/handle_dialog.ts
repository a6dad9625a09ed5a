// `browser_handle_dialog`: how the page's next question is answered. A question stops its page, so it is answered at once: with
// no, unless this was called before; the answer that brought it said so.

import { isOn, texts } from "../call.ts";
import type { Tool } from "../hand.ts";
import { setNext } from "../kept.ts";

export const handleDialog: Tool = async (hand) => {
  const { args, tab, documents } = hand;
  const accept = isOn(args, "accept");
  const text = texts(args, "promptText");
  await documents.awake(tab.id, 0);
  await setNext(hand, { accept, ...(text === undefined ? {} : { text }) });
  return { said: `The next question of this page is ${accept ? "accepted" : "dismissed"}. Now repeat the action that asks it.` };
};
