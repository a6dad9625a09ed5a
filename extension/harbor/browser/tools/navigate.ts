// `browser_navigate`, `browser_navigate_back`: to an address, back, forward, again. The bridge has judged the address.

import { goTo, reload, runIn } from "../../../shared/browser/tabs.ts";
import { ToolError, texts } from "../call.ts";
import { type Hand, LOAD_MS, type Tool, arrived } from "../hand.ts";
import { endOf, isWhole } from "../trip.ts";

/** How much later than the page its status may come, in milliseconds. */
const STATUS_MS = 300;

export const navigate: Tool = async (hand) => {
  const { args, tab, watch } = hand;
  const url = texts(args, "url");
  const kind = texts(args, "type") ?? "url";
  if (kind === "url" && url === undefined) throw new ToolError("the argument url is missing");
  await watch.going(tab.id, kind === "url" ? (url ?? "") : "");
  await go(hand, kind, url);
  const outcome = await arrived(hand, "");
  const trip = watch.tripOf(tab.id);
  const end = endOf(trip);
  if (end !== undefined) return { ...outcome, said: `Not shown: ${end}.${isWhole(trip) ? " The tab shows the page before." : ""}${outcome.said}`, ...(isWhole(trip) ? {} : { isError: true }) };
  if (!trip.hasCome) return { ...outcome, said: `Nothing has come from there within ${LOAD_MS / 1000} s, and the tab shows the page before. It may still come: call browser_wait_for with load.`, isError: true };
  // What comes out of the browser's memory was answered long ago.
  const status = await watch.statusOf(tab.id, kind === "back" || kind === "forward" || url === "about:blank" ? 0 : STATUS_MS);
  const said = `The page is there.${outcome.said}`;
  return status === undefined ? { ...outcome, said } : { ...outcome, said: `${said} HTTP status ${status}.`, structured: { status } };
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
