// `browser_network_requests`, `browser_network_request`: what the tab asked of the network, as far as the browser tells.

import type { RequestView } from "../../../shared/browser/tabs.ts";
import { ToolError, fits, isOn, numbers, texts } from "../call.ts";
import type { Hand, Tool } from "../hand.ts";
import { placeOf } from "../places.ts";

const STATIC = new Set(["image", "font", "stylesheet", "script", "media"]);

/** What may be told of the tab's requests: neither where those that were denied led, nor what a page asked for that was left. */
async function toldOf({ tab, watch, mayUse }: Hand): Promise<(RequestView & { index: number })[]> {
  const verdicts = new Map<string, Promise<boolean>>();
  const may = (url: string): Promise<boolean> => {
    const place = placeOf(url);
    const verdict = verdicts.get(place) ?? mayUse(url);
    verdicts.set(place, verdict);
    return verdict;
  };
  const all = watch.requestsOf(tab.id).map((request, index) => ({ ...request, index }));
  // A document of the tab's own was asked for by whoever led there, which may have been this tool.
  const told = await Promise.all(all.map(async ({ kind, url, from }) => (await may(url)) && (from === undefined || kind === "main_frame" || (await may(from)))));
  return all.filter((_, index) => told[index]);
}

const hasFailed = ({ status, error }: RequestView): boolean => error !== undefined || (status ?? 0) >= 400;

export const networkRequests: Tool = async (hand) => {
  const { args } = hand;
  const filter = texts(args, "filter");
  const isWanted = filter === undefined ? () => true : fits("filter", filter, "");
  const found = (await toldOf(hand)).filter((request) => (isOn(args, "static") || !STATIC.has(request.kind) || hasFailed(request)) && isWanted(request.url));
  const shown = found.slice(-(numbers(args, "limit") ?? 100));
  const lines = shown.map(({ index, method, url, status, error }) => `${index}: ${method} ${cut(url)} => ${status ?? error ?? "open"}`);
  return { said: `${found.length} requests${shown.length < found.length ? `, the last ${shown.length} shown` : ""}. Bodies are not kept.`, page: lines.join("\n") };
};

export const networkRequest: Tool = async (hand) => {
  const index = numbers(hand.args, "index") ?? -1;
  const request = (await toldOf(hand)).find((one) => one.index === index);
  if (request === undefined) throw new ToolError(`there is no request ${index}: browser_network_requests lists them`);
  const { method, url, kind, status, error, at } = request;
  return { said: "A request. Its headers and bodies are not kept.", page: `${method} ${url}\nkind: ${kind}\nstatus: ${status ?? error ?? "open"}\nat: ${new Date(at).toISOString()}` };
};

const cut = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
