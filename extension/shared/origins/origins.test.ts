// Who is let in, and who is not.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Sender } from "../browser/api.ts";
import { isPageOrigin } from "./origin.ts";
import { isContainer, isOfPages, placeOf, profileWords } from "./profile.ts";
import { isBackgroundOf, ownPage, pageOf } from "./senders.ts";

test("pages over https and of this machine have an origin, others have none", () => {
  const good = ["https://a.example", "https://a.example:8443", "http://localhost:3000", "http://127.0.0.1", "https://xn--bcher-kva.example"];
  for (const origin of good) assert.ok(isPageOrigin(origin), origin);
  const bad = [
    "",
    "null",
    "http://a.example",
    "http://localhost.example",
    "https://a.example/",
    "https://a.example:443",
    "https://A.example",
    "https://user@a.example",
    "https://*",
    "https://*.example",
    "https://bücher.example",
    "file://",
    "data:text/html,x",
    "about:blank",
    "chrome-extension://abc",
    "moz-extension://abc",
    "blob:https://a.example",
    `https://${"a".repeat(2000)}.example`,
  ];
  for (const origin of bad) assert.ok(!isPageOrigin(origin), origin);
});

const PAGE: Sender = {
  id: "me",
  url: "https://a.example/path",
  origin: "https://a.example",
  frameId: 0,
  documentId: "D",
  tab: { id: 3, incognito: false },
};

test("a document is what the browser says", () => {
  assert.deepEqual(pageOf(PAGE, "me"), { origin: "https://a.example", tab: 3, frame: 0, document: "D" });
});

test("a container is a profile, by the browser's word about the tab", () => {
  const inStore = (store: string) => pageOf({ ...PAGE, tab: { id: 3, incognito: false, store } }, "me")?.profile;
  assert.deepEqual(["firefox-default", "firefox-container-4"].map(inStore), [undefined, "container:firefox-container-4"]);
  for (const name of ["container:firefox-container-4", "container:x"]) assert.ok(isContainer(name), name);
  for (const name of ["default", "container:", "container:a b", "container:a\n", `container:${"x".repeat(101)}`, "x", 1, null]) assert.ok(!isContainer(name), String(name));
  assert.deepEqual(["container:firefox-container-4", "work", "browser:0a1b2c3d/container:firefox-container-2"].map(profileWords), ["Container 4", "work", "Browser 0a1b2c3d, Container 2"]);
  const ofPages = ["default", "container:x", "browser:0a1b2c3d", "browser:0a1b2c3d/container:x"];
  assert.deepEqual([...ofPages, "work", "browser:x", "default/container:x", "browser:0a1b2c3d/work", "browser:0a1b2c3d/container:x/y"].filter(isOfPages), ofPages);
  assert.deepEqual([placeOf({ origin: "https://a.example" }), placeOf({ origin: "https://a.example", profile: "container:x" })], ["https://a.example", "https://a.example container:x"]);
});

test("a sender that lacks something, or is something else, is no page", () => {
  const { origin, url, tab, frameId, id, ...nothing } = PAGE;
  const all = { origin, url, tab, frameId, id } as Sender;
  for (const name of Object.keys(all)) {
    const { [name as keyof Sender]: _, ...rest } = all;
    assert.equal(pageOf(rest as Sender, "me"), undefined, name);
  }
  assert.equal(pageOf(nothing, "me"), undefined);
  const wrong: Sender[] = [
    { ...PAGE, id: "other" },
    { ...PAGE, origin: "null" },
    { ...PAGE, origin: "https://b.example" },
    { ...PAGE, url: "about:blank" },
    { ...PAGE, url: "about:srcdoc" },
    { ...PAGE, url: "data:text/html,x" },
    { ...PAGE, url: "blob:https://a.example/1" },
    { ...PAGE, tab: { id: 3, incognito: true } },
    { ...PAGE, origin: "http://a.example", url: "http://a.example/" },
  ];
  for (const sender of wrong) assert.equal(pageOf(sender, "me"), undefined, JSON.stringify(sender));
});

test("only the background of the other extension is let in", () => {
  const uuid = "11111111-2222-4333-8444-666666666666";
  const chrome = { id: "peer", url: "chrome-extension://peer/background.js" };
  const firefox = { id: "peer@x", url: `moz-extension://${uuid}/_generated_background_page.html` };
  assert.ok(isBackgroundOf(chrome, "peer", "chrome"));
  assert.ok(isBackgroundOf(firefox, "peer@x", "firefox"));
  const tab = { id: 1, incognito: false };
  for (const sender of [
    { ...chrome, id: "evil" },
    { ...chrome, tab },
    { ...chrome, url: "chrome-extension://peer/page.html" },
    { ...chrome, url: "chrome-extension://evil/background.js" },
    { ...chrome, url: "https://a.example/background.js" },
    { id: "peer" },
    {},
  ]) {
    assert.ok(!isBackgroundOf(sender, "peer", "chrome"), JSON.stringify(sender));
  }
  for (const sender of [
    { ...firefox, tab },
    { ...firefox, id: "evil" },
    { ...firefox, url: `moz-extension://${uuid}/page.html` },
    { ...firefox, url: "https://a.example/_generated_background_page.html" },
    { id: "peer@x" },
  ]) {
    assert.ok(!isBackgroundOf(sender, "peer@x", "firefox"), JSON.stringify(sender));
  }
});

test("pages of ours are told apart by their file", () => {
  const base = "chrome-extension://me/";
  const page = (url: string, id = "me") => ownPage({ id, url }, "me", base);
  assert.equal(page(`${base}consent.html?question=1`), "consent.html");
  assert.equal(page(`${base}sidebar.html`), "sidebar.html");
  assert.equal(page(`${base}consent.htmlx`), undefined);
  assert.equal(page("https://a.example/consent.html"), undefined);
  assert.equal(page("chrome-extension://other/consent.html"), undefined);
  assert.equal(page(`${base}consent.html`, "other"), undefined);
  assert.equal(ownPage({}, "me", base), undefined);
});
