// What of a page counts as sensitive, which sites are kept from tools, and what a click in its menu says.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hostsOf, saidOf } from "./hosts.ts";
import { askedOf, parseAsked } from "./menu.ts";
import { sensitiveFrame, sensitiveOf } from "./sensitive.ts";

const field = (more: object) => sensitiveOf({ type: "text", autocomplete: "", name: "", id: "", ...more });

test("a field is sensitive by its type, by what it is marked as, and by what pages call it", () => {
  assert.equal(field({ type: "password" }), "password");
  assert.equal(field({ autocomplete: "section-a current-password" }), "password");
  assert.equal(field({ autocomplete: "ONE-TIME-CODE" }), "code");
  assert.equal(field({ autocomplete: "billing cc-number" }), "card");
  assert.equal(field({ autocomplete: "cc-csc" }), "card");
  assert.deepEqual([{ name: "cardNumber" }, { id: "card_number" }, { name: "cvv" }, { name: "otp" }, { id: "user_password" }].map(field), ["card", "card", "card", "code", "password"]);
});

test("what only sounds like one is none, and neither is what nobody types into", () => {
  for (const more of [{ name: "search" }, { name: "discard-numbers" }, { autocomplete: "email" }, { name: "passwordless" }, { type: "hidden", name: "password" }, { name: "topic" }]) {
    assert.equal(field(more), undefined, JSON.stringify(more));
  }
});

const CONFIG = '[limits]\nx = 1\n\n[browser]\nblocked = ["bank.example", "*.pay.example", "127.0.0.1"]\naskFirst = ["*.shop.example"]\n\n[secrets]\nblocked = ["no.example"]\n';

test("the person's lists are read out of what the bridge has in force", () => {
  assert.deepEqual(hostsOf(CONFIG), { blocked: ["bank.example", "*.pay.example", "127.0.0.1"], askFirst: ["*.shop.example"] });
  assert.deepEqual(hostsOf("[browser]\nblocked = []\naskFirst = []"), { blocked: [], askFirst: [] });
  for (const bad of [undefined, 3, "", "[secrets]\nblocked = []\naskFirst = []\n", "[browser]\nblocked = [\naskFirst = []\n", "[browser]\nblocked = []\n"]) assert.equal(hostsOf(bad), undefined);
});

test("a host is kept from tools as the bridge compares it", () => {
  const hosts = hostsOf(CONFIG) ?? { blocked: [], askFirst: [] };
  const said = (url: string) => saidOf(url, hosts);
  for (const url of ["https://bank.example/a", "https://BANK.example./", "http://pay.example", "http://a.b.pay.example:81/", "http://0x7f.1/", "http://[::ffff:7f00:1]/"]) assert.equal(said(url), "blocked", url);
  assert.equal(said("https://x.shop.example/"), "askFirst");
  for (const url of ["https://www.bank.example/", "https://notpay.example/", "https://no.example/", "about:blank", ""]) assert.equal(said(url), undefined, url);
});

test("a click in the menu of a page reaches the panel of its own window only", () => {
  const click = { window: 7, tab: 3, url: "https://a.example/", selection: "" };
  assert.equal(askedOf(click).kind, "page");
  assert.equal(askedOf({ ...click, selection: "words", link: "https://b.example/" }).kind, "selection");
  assert.equal(askedOf({ ...click, link: "https://b.example/", picture: "https://b.example/a.png" }).kind, "image");
  const asked = askedOf({ ...click, link: "https://b.example/" });
  assert.deepEqual(parseAsked(asked, 7), { window: 7, tab: 3, url: "https://a.example/", kind: "link", text: "", link: "https://b.example/" });
  for (const value of [undefined, null, {}, "page", { ...asked, tab: "3" }]) assert.equal(parseAsked(value, 7), undefined);
  assert.equal(parseAsked(asked, 8), undefined);
});

test("a frame that cannot be looked into is sensitive by what the page says of it", () => {
  const frame = (more: object) => sensitiveFrame({ address: "", title: "", name: "", id: "", allow: "", ...more });
  assert.deepEqual(frame({ address: "https://js.stripe.com/v3/elements-inner-card.html" }), ["card"]);
  assert.deepEqual(frame({ title: "Secure card payment input frame" }), ["card"]);
  assert.deepEqual(frame({ allow: "fullscreen; payment *" }), ["card"]);
  assert.deepEqual(frame({ address: "https://id.example/oauth2/authorize" }), ["password"]);
  assert.deepEqual(frame({ allow: "publickey-credentials-get" }), ["password"]);
  assert.deepEqual(frame({ name: "otpFrame" }), ["code"]);
  for (const address of ["https://www.youtube.com/embed/x", "https://ads.example/author/1", "https://maps.example/postcards", ""]) assert.deepEqual(frame({ address }), [], address);
});
