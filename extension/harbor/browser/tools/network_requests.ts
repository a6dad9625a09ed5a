// `browser_network_requests`, `browser_network_request`: what the tab asked of the network, as far as the browser tells.

import { ToolError, fits, isOn, numbers, texts } from "../call.ts";
import type { Tool } from "../hand.ts";

const STATIC = new Set(["image", "font", "stylesheet", "script", "media"]);

export const networkRequests: Tool = async ({ args, tab, watch }) => {
  const filter = texts(args, "filter");
  const isWanted = filter === undefined ? () => true : fits("filter", filter, "");
  const all = watch.requestsOf(tab.id);
  const found = all.map((request, index) => ({ ...request, index })).filter(({ kind, url }) => (isOn(args, "static") || !STATIC.has(kind)) && isWanted(url));
  const shown = found.slice(-(numbers(args, "limit") ?? 100));
  const lines = shown.map(({ index, method, url, status, error }) => `${index}: ${method} ${cut(url)} => ${status ?? error ?? "open"}`);
  return { said: `${found.length} requests${shown.length < found.length ? `, the last ${shown.length} shown` : ""}. Bodies are not kept.`, page: lines.join("\n") };
};

export const networkRequest: Tool = async ({ args, tab, watch }) => {
  const index = numbers(args, "index") ?? -1;
  const request = watch.requestsOf(tab.id)[index];
  if (request === undefined) throw new ToolError(`there is no request ${index}: browser_network_requests lists them`);
  const { method, url, kind, status, error, at } = request;
  return { said: "A request.", page: `${method} ${url}\nkind: ${kind}\nstatus: ${status ?? error ?? "open"}\nat: ${new Date(at).toISOString()}` };
};

const cut = (url: string): string => (url.length > 300 ? `${url.slice(0, 300)}…` : url);
