// `browser_network_requests`, `browser_network_request`, `browser_network_body`: what the tab asked of the network, as far as the browser tells.

import { type RequestView, documentIn } from "../../../shared/browser/tabs.ts";
import { DeniedError, ToolError, fits, isOn, needed, numbers, texts } from "../call.ts";
import type { Hand, Tool } from "../hand.ts";
import { bodiesBy } from "../kept.ts";
import { MOST_OF_BODY } from "../page/commands.ts";
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

/** So much of a body that was cut is not told, in characters: there may be a piece of a secret. */
const SPARE = 2_000;

/** What asks by a script, as the browsers call it. */
const BY_SCRIPT = new Set(["xmlhttprequest", "fetch"]);

export const networkBody: Tool = async (hand) => {
  const { args, tab, documents } = hand;
  const site = needed(args, "site");
  if ((await documentIn(tab.id, 0))?.origin !== site) throw new DeniedError("the document is not of the site that was asked about");
  if (!hand.keepBodies(site)) return { said: "Bodies are kept at this site from now on: load the page anew, do what asks the server, and call this again." };
  const index = numbers(args, "index") ?? -1;
  const all = await toldOf(hand);
  const request = all.find((one) => one.index === index);
  if (request === undefined) throw new ToolError(`there is no request ${index}: browser_network_requests lists them`);
  const { method, url, kind, status } = request;
  if (!BY_SCRIPT.has(kind)) throw new ToolError("only bodies of what a script asks for by fetch or XMLHttpRequest are kept");
  if (status === undefined) throw new ToolError("this request was not answered");
  await documents.awake(tab.id, 0);
  const bare = url.replace(/#.*/, "");
  const alike = all.filter((one) => one.method === method && one.url.replace(/#.*/, "") === bare && BY_SCRIPT.has(one.kind) && one.status !== undefined);
  const bodies = await bodiesBy(hand, method, bare);
  // Both lists have the newest ones.
  const body = bodies.at(alike.findIndex((one) => one.index === index) - alike.length);
  if (body === undefined) throw new ToolError("the body was not kept: of each page the newest 50 are, where a script of it asked");
  const part = texts(args, "part") === "request" ? "request" : "response";
  const text = hand.without(body[part]);
  const isCut = body[part].length >= MOST_OF_BODY;
  return { said: `The ${part}'s body${text === "" ? " is empty." : isCut ? ", cut:" : ":"}`, page: isCut ? text.slice(0, -SPARE) : text };
};

const cut = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
