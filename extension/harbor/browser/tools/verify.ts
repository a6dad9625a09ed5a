// `browser_verify_*`: whether the page has what a test wants. What it has not is a failure, said with what is there.
//
// Must never tell what a snapshot would not.

import { ToolError, lists, needed } from "../call.ts";
import { type Tool, inDocument } from "../hand.ts";
import { searched } from "../page/bound.ts";
import type { Line } from "../page/snapshot.ts";

const failed = (said: string, page = "") => ({ said, page, isError: true });

export const verifyText: Tool = async (hand) => {
  const text = needed(hand.args, "text");
  const { documents, tab, mayUse } = hand;
  const frames = [0, ...(await documents.frames(tab.id, mayUse))];
  // A frame that has gone meanwhile shows nothing.
  const all = await Promise.all(frames.map((frame) => documents.run(tab.id, frame, "has", { text }).then(({ is }) => is, (error: unknown) => { if (frame === 0) throw error; return false; })));
  return all.includes(true) ? { said: "The text is visible." } : failed("The text is not visible.");
};

export const verifyElement: Tool = async ({ args, tab, snapshots, mayUse }) => {
  const [role, name] = [needed(args, "role"), needed(args, "accessibleName")];
  const lines = await snapshots.take(tab.id, { filter: "all" }, mayUse);
  if (lines.some(({ text }) => isCalled(text, role, name))) return { said: "The element is visible." };
  const others = searched(lines, (text) => text.startsWith(`${role} "`) || text === role, 10, 2_000).text;
  return failed(`There is no visible element of this role and name.${others === "" ? "" : " Others of the role:"}`, others);
};

/** A line of a snapshot begins with role and name; a name in a row of a table stands between bars. */
function isCalled(text: string, role: string, name: string): boolean {
  const head = `${role} ${JSON.stringify(name)}`;
  return text.startsWith(head) || text.includes(` ${head}`);
}

export const verifyList: Tool = async ({ args, tab, snapshots, mayUse }) => {
  const [target, items] = [needed(args, "target"), lists(args, "items")];
  if (items.length === 0) throw new ToolError("items must name what the list has to have");
  const lines = await snapshots.take(tab.id, { filter: "all", target }, mayUse);
  const missing = firstMissing(lines, items);
  if (missing === undefined) return { said: `The list has these ${items.length} items, in this order.` };
  return failed(`The list does not have item ${missing + 1} behind those before it.`, searched(lines, () => true, 20, 2_000).text);
};

/** The first of the items that no line has behind the line of the item before it. Pure. */
export function firstMissing(lines: Line[], items: string[]): number | undefined {
  let at = 0;
  for (const [index, item] of items.entries()) {
    const found = lines.findIndex(({ text }, place) => place >= at && text.includes(item));
    if (found === -1) return index;
    at = found + 1;
  }
  return undefined;
}

export const verifyValue: Tool = async (hand) => {
  const [target, wanted] = [needed(hand.args, "target"), needed(hand.args, "value")];
  const { value } = await inDocument(hand, target, "value", { target });
  return value === wanted ? { said: "The field has this value." } : failed("The field has another value:", value.slice(0, 500));
};
