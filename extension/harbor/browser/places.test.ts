// Which document of a tab has been judged, in a browser that is made up: step by step, what real ones do in an order of their own.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Places, type Verdict, placeOf } from "./places.ts";

test("all of an origin is one place, and nothing else is", () => {
  for (const [url, place] of [
    ["https://a.example/x?y#z", "https://a.example"],
    ["HTTPS://A.example:443", "https://a.example"],
    ["http://a.example:8080/", "http://a.example:8080"],
    // A name or a password is refused, whatever its host is.
    ["https://me@a.example/", "https://me@a.example/"],
    ["https://:pw@a.example/", "https://:pw@a.example/"],
    ["about:blank", "about:blank"],
    ["about:blank#x", "about:blank#x"],
    ["blob:https://a.example/1-2", "blob:https://a.example/1-2"],
    ["data:text/html,x", "data:text/html,x"],
    ["file:///etc/passwd", "file:///etc/passwd"],
    ["", ""],
  ] as const) {
    assert.equal(placeOf(url), place);
  }
});

const [SESSION, TAB] = ["session", 7];
const HERE = "https://here.example/x";
const BANK = "https://bank.example/secret";

/** A browser with one tab. `stays`: it does not go where it is taken. */
function browserWith(url: string, { stays = false } = {}) {
  const did: string[] = [];
  let tab: { id: number; windowId: number; url: string; title: string } | undefined = { id: TAB, windowId: 1, url, title: `title of ${url}` };
  const shows = (next: string) => (tab = { id: TAB, windowId: 1, url: next, title: `title of ${next}` });
  const tabs = {
    get: async () => tab ?? Promise.reject(new Error("no tab")),
    update: async (_: number, { url: next }: { url: string }) => {
      did.push(`to ${next}`);
      if (!stays) shows(next);
    },
    remove: async () => {
      did.push("closed");
      tab = undefined;
    },
  };
  Object.assign(globalThis, { chrome: { tabs } });
  const judge = async (_session: string, _tab: number, url: string, noted: boolean): Promise<Verdict> => {
    did.push(`${noted ? "asked" : "looked up"} ${url}`);
    return url.startsWith(BANK) ? { allowed: false, reason: "blocked" } : { allowed: true };
  };
  const places = new Places({ judge, going: () => undefined, settled: async () => true, has: () => true });
  return { places, did, shows };
}

test("what a tab sets out for is judged once, and left before it is there", async () => {
  const { places, did } = browserWith(HERE);
  places.setsOut(SESSION, TAB, HERE);
  assert.deepEqual(await places.commits(SESSION, TAB, HERE), { allowed: true });
  assert.equal((await places.here(SESSION, TAB))?.url, HERE);
  places.setsOut(SESSION, TAB, BANK);
  await places.settled(TAB);
  assert.deepEqual(did, [`asked ${HERE}`, `asked ${BANK}`, "to about:blank"]);
  assert.deepEqual([places.takeRefusal(TAB), places.takeRefusal(TAB)], ["blocked", undefined]);
});

test("a denied document that comes all the same is left again, also while the first denial was not said", async () => {
  const { places, did, shows } = browserWith(HERE);
  for (let time = 0; time < 2; time += 1) {
    places.setsOut(SESSION, TAB, BANK);
    await places.settled(TAB);
    places.setsOut(SESSION, TAB, BANK);
    shows(BANK);
    await places.commits(SESSION, TAB, BANK);
    assert.equal((await places.here(SESSION, TAB))?.url, "about:blank");
  }
  assert.equal(did.filter((one) => one === "to about:blank").length, 6);
  assert.equal(places.takeRefusal(TAB), "blocked");
});

test("where a redirect has led elsewhere, that is judged, and nothing of it is told", async () => {
  const { places, did, shows } = browserWith(HERE);
  places.setsOut(SESSION, TAB, HERE);
  shows(BANK);
  await places.commits(SESSION, TAB, BANK);
  assert.equal(await places.allowed(TAB), undefined);
  assert.equal((await places.here(SESSION, TAB))?.url, "about:blank");
  assert.deepEqual(did, [`asked ${HERE}`, `asked ${BANK}`, "to about:blank"]);
});

test("a tab is told of by what it shows, though its event has not come", async () => {
  const { places, did, shows } = browserWith(HERE);
  await places.commits(SESSION, TAB, HERE);
  shows(BANK);
  const tab = { id: TAB, windowId: 1, url: BANK, title: "secret", active: false, loading: false };
  const { url, title } = await places.asTold(SESSION, tab);
  assert.deepEqual([url, title], ["[address not allowed]", ""]);
  assert.equal((await places.here(SESSION, TAB))?.url, "about:blank");
  assert.deepEqual(did, [`asked ${HERE}`, `looked up ${BANK}`, `looked up ${BANK}`, `asked ${BANK}`, "to about:blank"]);
});

test("the title of a page that is on its way is told where that may be told", async () => {
  const { places } = browserWith(HERE);
  const title = async (pending: string) => (await places.asTold(SESSION, { id: TAB, windowId: 1, url: HERE, pending, title: pending, active: false, loading: true })).title;
  assert.deepEqual([await title("https://here.example/y"), await title(BANK)], ["https://here.example/y", ""]);
  // Firefox gives the address for a title, and does not say that another page is on its way.
  const empty = await places.asTold(SESSION, { id: TAB, windowId: 1, url: "about:blank", title: BANK, active: false, loading: false });
  assert.equal(empty.title, "");
});

test("a tab that cannot be left is closed", async () => {
  const { places, did } = browserWith(BANK, { stays: true });
  await places.commits(SESSION, TAB, BANK);
  assert.equal(await places.here(SESSION, TAB), undefined);
  assert.deepEqual(did, [`asked ${BANK}`, ...Array.from({ length: 3 }, () => "to about:blank"), "closed"]);
});

test("a tab that is no session's is the person's to be where they like", async () => {
  const { did, shows } = browserWith(HERE);
  const places = new Places({ judge: async () => ({ allowed: false }), going: () => undefined, settled: async () => true, has: () => true });
  shows(BANK);
  await places.commits(SESSION, TAB, BANK);
  assert.equal((await places.here(SESSION, TAB))?.url, "[address not allowed]");
  assert.deepEqual(did, []);
});
