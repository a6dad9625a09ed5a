// `browser_read`: the page as text, Markdown, HTML or tables; of other tabs of the session, too.

import { numbers, texts } from "../call.ts";
import { type Hand, type Tool, inDocument } from "../hand.ts";
import type { Mode } from "../page/read.ts";

const MOST = 20_000;

export const read: Tool = async (hand) => {
  const { args } = hand;
  const target = texts(args, "target");
  // Before it is cut: nobody knows a piece of a secret.
  const text = hand.without(await textOf(hand, (texts(args, "mode") ?? "text") as Mode, target));
  const [offset, most] = [numbers(args, "offset") ?? 0, numbers(args, "maxChars") ?? MOST];
  const part = text.slice(offset, offset + most);
  const end = offset + part.length;
  const rest = end < text.length ? ` The rest by offset: ${end}.` : "";
  return { said: `${part.length} of ${text.length} characters of the page, from ${offset}.${rest}`, page: part };
};

/** Of the tabs named, else of the one meant; the bridge lets nobody name others' tabs, and these are looked at once more. */
async function textOf(hand: Hand, mode: Mode, target: string | undefined): Promise<string> {
  const named = hand.args["tabIds"];
  const tabs = Array.isArray(named) ? named.filter((id) => typeof id === "number" && hand.tabs.includes(id)) : [];
  const { documents, mayUse, tab } = hand;
  const texts = tabs.map(async (id: number) => `[tab ${id}]\n${(await documents.run(id, 0, "read", { mode })).text}`);
  const text = tabs.length === 0 ? (await inDocument(hand, target, "read", { mode, target })).text : (await Promise.all(texts)).join("\n\n");
  await Promise.all((tabs.length === 0 ? [tab.id] : tabs).map((id: number) => documents.noteSecrets(id, mayUse)));
  return text;
}
