// `browser_navigate`, `browser_navigate_back`: to an address, back, forward, again. The bridge has judged the address.

import { goTo, reload, runIn } from "../../../shared/browser/tabs.ts";
import { ToolError, texts } from "../call.ts";
import { type Hand, type Tool, arrived } from "../hand.ts";

export const navigate: Tool = async (hand) => {
  const { args, tab, watch } = hand;
  const url = texts(args, "url");
  const kind = texts(args, "type") ?? "url";
  if (kind === "url" && url === undefined) throw new ToolError("the argument url is missing");
  await watch.going(tab.id, kind === "url" ? (url ?? "") : "");
  await go(hand, kind, url);
  const outcome = await arrived(hand, "The page is there.");
  const status = watch.statusOf(tab.id);
  return status === undefined ? outcome : { ...outcome, said: `${outcome.said} HTTP status ${status}.`, structured: { status } };
};

async function go({ tab, documents }: Hand, kind: string, url: string | undefined): Promise<void> {
  const isInPage = kind === "back" || kind === "forward";
  if (isInPage) await documents.awake(tab.id, 0);
  try {
    // The browser's own way passes over pages that nobody has clicked in.
    if (isInPage) await runIn(tab.id, 0, (steps: number) => history.go(steps), kind === "back" ? -1 : 1);
    else if (kind === "reload") await reload(tab.id);
    else await goTo(tab.id, url ?? "about:blank");
  } catch (error) {
    throw new ToolError(`the tab cannot go there: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export const navigateBack: Tool = (hand) => navigate({ ...hand, args: { type: "back" } });
