// `browser_tabs`: the session's tabs. `browser_close`: the one meant.

import { closeTabs, showTab, tabOf } from "../../../shared/browser/tabs.ts";
import { ToolError, lists, numbers, texts } from "../call.ts";
import { type Hand, type Tool, arrived } from "../hand.ts";
import { LONGEST_TITLE, shortened } from "../page/bound.ts";

export const tabs: Tool = async (hand) => {
  const { args } = hand;
  const action = texts(args, "action") ?? "list";
  if (action === "list") return list(hand);
  if (action === "new") return open(hand);
  const tabId = numbers(args, "tabId") ?? hand.tabs[numbers(args, "index") ?? -1] ?? hand.tab.id;
  if (!hand.tabs.includes(tabId)) throw new ToolError(`tab ${tabId} does not belong to this session`);
  if (action === "close") {
    await closeTabs([tabId]);
    return { said: `Tab ${tabId} is closed.` };
  }
  if (action === "select") {
    // Which one is meant is the bridge's to know. Shown only where that was asked for: a person may be using another tab.
    if (args["background"] === false) await showTab(tabId);
    return { said: `Tab ${tabId} is now the current tab.` };
  }
  if (action === "release") {
    await hand.release(tabId);
    return { said: `Tab ${tabId} belongs to the person again.` };
  }
  throw new ToolError(`browser_tabs has no action ${action}`);
};

async function list(hand: Hand) {
  const views = await hand.told();
  const lines = views.map(({ id, title, url }, index) => `${index}: ${id === hand.tab.id ? "(current) " : ""}tab ${id} ${JSON.stringify(shortened(title, LONGEST_TITLE))} ${shortened(url, 300)}`);
  return { said: `${views.length} tabs of this session.`, page: lines.join("\n") };
}

async function open(hand: Hand) {
  const urls = [...lists(hand.args, "urls"), ...(texts(hand.args, "url") === undefined ? [] : [texts(hand.args, "url") as string])];
  const opened: number[] = [];
  for (const url of urls.length === 0 ? ["about:blank"] : urls) opened.push((await hand.open(url)).id);
  const last = opened.at(-1) ?? hand.tab.id;
  const tab = (await tabOf(last)) ?? hand.tab;
  return { ...(await arrived({ ...hand, tab }, `Opened tab ${opened.join(", ")}, behind the person's.`)), tabId: tab.id };
}

export const close: Tool = async ({ tab }) => {
  await closeTabs([tab.id]);
  return { said: `Tab ${tab.id} is closed.` };
};
