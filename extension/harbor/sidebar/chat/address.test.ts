// Which addresses may be links, and which carry something away.

import assert from "node:assert/strict";
import { test } from "node:test";
import { addressOf, saysAddress } from "./address.ts";

test("an address that could tell something carries data", () => {
  const carries: [string, boolean][] = [
    ["https://a.example/", false],
    ["https://a.example/docs/how-to-do-a-thing-in-many-words-and-more.html", false],
    ["https://ru.wikipedia.org/wiki/%D0%9C%D0%B8%D1%80", false],
    ["mailto:me@a.example", false],
    ["https://a.example/?", false],
    ["https://a.example/?q=1", true],
    ["https://a.example/#x", true],
    ["https://user@a.example/", true],
    ["https://:pass@a.example/", true],
    [`https://a.example/${"a-b/".repeat(60)}`, true],
    ["https://a.example/c2VjcmV0IHdvcmRzIG9mIGEgcGVyc29u", true],
    [`https://${"s".repeat(41)}.a.example/`, true],
    [`https://${"se.".repeat(40)}a.example/`, true],
    ["mailto:me@a.example?body=secret", true],
  ];
  for (const [href, is] of carries) assert.equal(addressOf(href)?.carriesData, is, href);
});

test("only pages and mail are led to, and hosts are ASCII", () => {
  for (const href of ["javascript:x", " javascript:x", "data:,x", "file:///x", "chrome://x", "moz-extension://x/", "/x", "x", "", "https://", "http://a b/"]) {
    assert.equal(addressOf(href), undefined, href);
  }
  assert.equal(addressOf("https://аррӏе.com/x")?.to, "xn--80ak6aa92e.com");
  assert.equal(addressOf("HTTP://A.example:8080")?.to, "a.example:8080");
});

test("only a text that is the address hides nothing", () => {
  const says = (text: string, href: string) => saysAddress(text, addressOf(href) ?? assert.fail());
  for (const text of ["https://a.example/", "https://a.example", "a.example", "a.example/"]) assert.equal(says(text, "https://a.example"), true);
  for (const text of ["http://a.example", "https://b.example/", "a.example/x", "A"]) assert.equal(says(text, "https://a.example"), false);
  assert.equal(says("https://bank.example@a.example/", "https://bank.example@a.example/"), false);
  assert.equal(says("me@a.example", "mailto:me@a.example"), true);
  assert.equal(says("https://аррӏе.com/", "https://аррӏе.com/"), false);
});
