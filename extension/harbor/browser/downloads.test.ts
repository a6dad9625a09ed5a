// Whose a download is.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DownloadView } from "../../shared/browser/downloads.ts";
import type { TabView } from "../../shared/browser/tabs.ts";
import type { BrowserDownload } from "../../shared/protocol/generated/messages.ts";
import { Downloads, whoseByAnswer } from "./downloads.ts";

const SESSIONS = new Map([[1, "a"], [2, "a"], [3, "b"]]);

test("the session whose tab was answered with the address has the download; own where no other one was", () => {
  const at = (tabId: number, url: string, ms = 0) => ({ tabId, session: SESSIONS.get(tabId), url, at: ms });
  const whose = (...answers: ReturnType<typeof at>[]) => whoseByAnswer("http://x/f#part", answers, 5_000);
  assert.deepEqual(whose(at(1, "http://x/f"), at(2, "http://x/f")), { session: "a", tabId: 2, own: true });
  assert.deepEqual(whose(at(1, "http://x/f"), at(9, "http://x/f")), { session: "a", tabId: 1, own: false });
  assert.deepEqual(whose(at(1, "http://x/f"), at(3, "http://x/f")), { session: "b", tabId: 3, own: false });
  assert.equal(whose(at(9, "http://x/f"), at(1, "http://x/g")), undefined);
  assert.equal(whose(at(1, "http://x/f", -6_000)), undefined);
});

const tab = (id: number, url: string): TabView => ({ id, windowId: 1, url, title: "", active: false, loading: false });
const download = (url: string, more: Partial<DownloadView> = {}): DownloadView => ({ id: 7, url, referrer: "", path: "/d/f.csv", mime: "text/csv", bytes: 3, state: "complete", isPrivate: false, ...more });

/** What is told of a download that begins while these tabs are open. */
async function toldOf(tabs: TabView[], one: DownloadView, acting?: number): Promise<[number, BrowserDownload][]> {
  const told: [number, BrowserDownload][] = [];
  const noted: string[] = [];
  const around = { sessionOf: (id: number) => SESSIONS.get(id), tabsOf: () => [], tell: async (id: number, what: BrowserDownload) => void told.push([id, what]), note: (_: number, event: string) => void noted.push(event) };
  const downloads = new Downloads(around, async () => tabs);
  if (acting !== undefined) downloads.acts(acting);
  downloads.began(one);
  await new Promise((done) => setTimeout(done));
  assert.equal(noted.length, told.length);
  return told;
}

test("what a page makes itself is of the session whose tab is there, unless the person may have begun it", async () => {
  const blob = download("blob:http://x/1");
  const [only] = await toldOf([tab(1, "http://x/p"), tab(9, "http://y/")], blob);
  assert.deepEqual([only?.[0], only?.[1].own, only?.[1].path], [1, true, "/d/f.csv"]);
  // The person has a page there, too.
  const both = [tab(1, "http://x/p"), tab(9, "http://x/mine")];
  assert.deepEqual(await toldOf(both, blob), []);
  const [acting] = await toldOf(both, blob, 1);
  assert.equal(acting?.[1].own, false);
  // Two sessions: neither's alone.
  const [other] = await toldOf([tab(1, "http://x/"), tab(3, "http://x/")], blob, 3);
  assert.deepEqual([other?.[0], other?.[1].own], [3, false]);
  const [data] = await toldOf([tab(2, "http://x/p")], download(`data:text/csv,${"x".repeat(9_000)}`, { referrer: "http://x/p" }));
  assert.deepEqual([data?.[0], data?.[1].url.length], [2, 2_000]);
  // It is not said from where.
  const [somewhere] = await toldOf([tab(1, "http://x/"), tab(9, "about:newtab")], download("data:text/csv,1"));
  assert.equal(somewhere?.[1].own, true);
  const [maybe] = await toldOf([tab(1, "http://x/"), tab(9, "http://y/")], download("data:text/csv,1"), 1);
  assert.equal(maybe?.[1].own, false);
  assert.deepEqual(await toldOf([tab(1, "http://x/")], download("http://x/elsewhere")), []);
  assert.deepEqual(await toldOf([tab(1, "http://x/")], { ...blob, isPrivate: true }), []);
});

test("a tab that was opened for a file and has closed has it told of another one of its session", async () => {
  const told: number[] = [];
  const here = new Map([[1, "a"], [5, "a"]]);
  const around = { sessionOf: (id: number) => here.get(id), tabsOf: () => [...here.keys()], tell: async (id: number) => void told.push(id), note: () => undefined };
  const downloads = new Downloads(around, async () => []);
  downloads.acts(1);
  downloads.came(5, "http://x/f", true);
  here.delete(5);
  downloads.began(download("http://x/f"));
  await downloads.due("a");
  assert.deepEqual(told, [1]);
});

test("an end that the bridge does not take, since its tab closes just then, is told again of another tab", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const told: [number, string][] = [];
  const here = new Map([[1, "a"], [5, "a"]]);
  const tell = async (id: number, { state }: BrowserDownload) => {
    told.push([id, state]);
    if (id === 5) throw new Error("the tab has closed");
  };
  const look = async () => download("http://x/f");
  const downloads = new Downloads({ sessionOf: (id) => here.get(id), tabsOf: () => [...here.keys()], tell, note: () => undefined }, async () => [], look);
  downloads.came(5, "http://x/f", true);
  downloads.began(download("http://x/f"));
  await settled();
  here.delete(5);
  for (let times = 0; times < 3; times++) {
    t.mock.timers.tick(1_000);
    await settled();
  }
  assert.deepEqual(told, [[5, "complete"], [1, "complete"]]);
});

/** Lets all that is ready happen. */
const settled = () => new Promise((done) => setImmediate(done));
