// The page beside the chat: what goes by itself, how much of it, and what an `@` finds.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PageRead } from "../../page/forms.ts";
import { type AtItem, foundIn, mentionAt, moved, without } from "./at.ts";
import { fitted, inParts, isAboutPage, isSummarise, roomFor, tokenWords, tokensOf } from "./page_parts.ts";
import { type PageState, isSameDocument, originOf, standingOf, why } from "./page_rules.ts";

const open = (origin: string | undefined, more: object = {}) => ({ tab: 1, origin, isPrivate: false, isLoading: false, ...more });
const read = (...sensitive: PageRead["sensitive"]): PageRead => ({ url: "https://a.example/", title: "", text: "", sensitive, isCut: false });
const HOSTS = { blocked: ["bank.example"], askFirst: ["shop.example"] };
const standing = (more: Partial<PageState>) => standingOf({ open: open("https://a.example"), choice: "on", hosts: HOSTS, read: undefined, ...more });

test("a page goes by itself only where its site is switched on and nothing speaks against it", () => {
  assert.deepEqual(standing({}), { is: "on" });
  assert.deepEqual(standing({ choice: undefined }), { is: "off" });
  assert.deepEqual(standing({ choice: "off" }), { is: "off" });
  assert.deepEqual(standing({ read: read() }), { is: "on" });
});

test("a page that holds something of the person's needs a click each time, whatever its site is", () => {
  assert.deepEqual(standing({ read: read("password", "card") }), { is: "click", why: "This page has a password field and a card field. Only your click attaches it, once." });
  assert.deepEqual(standing({ open: open("https://a.example", { isPrivate: true }) }), { is: "click", why: why.private });
  assert.deepEqual(standing({ open: open("https://shop.example") }), { is: "click", why: why.askFirst });
});

test("what is blocked is never read, and neither is anything while that is not known", () => {
  assert.deepEqual(standing({ open: open("https://bank.example") }), { is: "never", why: why.blocked });
  assert.deepEqual(standing({ hosts: undefined }), { is: "never", why: why.unknown });
  assert.deepEqual(standing({ choice: "never" }), { is: "never", why: why.never });
  for (const none of [undefined, open(undefined), open("file://")]) assert.deepEqual(standing({ open: none }), { is: "none", why: why.none });
  assert.deepEqual(["https://a.example/x", "file:///etc/passwd", "chrome://settings", "about:blank", "x", undefined].map(originOf), ["https://a.example", undefined, undefined, undefined, undefined, undefined]);
  assert.ok(isSameDocument("https://a.example/x#one", "https://a.example/x") && !isSameDocument("https://a.example/x", "https://a.example/y"));
});

test("tokens are estimated by letters, and by signs where each is one", () => {
  assert.deepEqual(["", "abcd", "abcde", "日本語", "日本 ab"].map(tokensOf), [0, 1, 2, 3, 3]);
  assert.deepEqual([12, 1_234, 45_678].map(tokenWords), ["about 12 tokens", "about 1.2k tokens", "about 46k tokens"]);
  assert.ok(roomFor(4_096) < 4_096 && roomFor(undefined) < 8_192 && roomFor(1) > 0);
});

test("what does not fit is cut, and the text says so", () => {
  assert.deepEqual(fitted("short", 10), { text: "short", left: 0 });
  const { text, left } = fitted("a".repeat(1_000), 100);
  assert.equal(left, 600);
  assert.match(text, /^a{400}\n\n\[Harbor cut the page here: 600 of its 1,000 characters/);
  // No half of a letter.
  assert.match(fitted("😀".repeat(500), 51).text, /^(😀)+\n/u);
  // The bridge takes a million bytes, however large the model is.
  assert.ok(new TextEncoder().encode(fitted("é".repeat(2_000_000), 9_000_000).text).length < 1_000_000);
});

test("a long page is in parts that fit, torn where paragraphs end, and nothing of it is lost", () => {
  const paragraphs = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} ${"word ".repeat(40)}`.trim());
  const { parts, summary, left } = inParts(paragraphs.join("\n\n"), 300);
  assert.equal(left, paragraphs.join("\n\n").length - parts.join("\n\n").length - 2);
  assert.ok(parts.length * summary <= 300);
  for (const part of parts) assert.ok(tokensOf(part) <= 300 && /^Paragraph \d+ .*word$/s.test(part), part);
  const whole = inParts(paragraphs.join("\n\n"), 2_000);
  assert.deepEqual([whole.parts.join("\n\n"), whole.left], [paragraphs.join("\n\n"), 0]);
  // One word without an end is torn all the same.
  assert.equal(inParts("x".repeat(9_000), 1_000).parts.join(""), "x".repeat(9_000));
  assert.deepEqual(inParts("", 100).parts, []);
});

test("a question about the page is told from others", () => {
  for (const text of ["Summarise this page", "what does this article say about tax?", "tl;dr", "Please summarize", "Who wrote this?", "Is the recipe vegan?", "explain this", "Which of these two pages has the cheaper ticket?", "What does a ticket cost on each page?", "compare both tabs", "all the open tabs?"]) assert.ok(isAboutPage(text), text);
  for (const text of ["What time is it in Tokyo?", "Add a note: call Kenji", "Summer plans", "search my mail for pages", "Explain recursion", "Save the text of this page to note.txt", "who is the keeper?"]) assert.ok(!isAboutPage(text), text);
  for (const text of ["who is the keeper?", "compare the prices", "The cheaper one?"]) assert.ok(isAboutPage(text, true), text);
  for (const text of ["Add both to my list", "please send this to Kenji", "Summer plans"]) assert.ok(!isAboutPage(text, true), text);
  assert.deepEqual(["/summarise", " /summarize ", "/summarise it", "summarise"].map(isSummarise), [true, true, false, false]);
});

test("an @ at the beginning of a word opens the list, and is taken out of the text", () => {
  assert.deepEqual(mentionAt("@", 1), { from: 0, query: "" });
  assert.deepEqual(mentionAt("look at @git now", 12), { from: 8, query: "git" });
  for (const [text, caret] of [["me@mail.example", 15], ["@git hub", 8], ["@a@b", 4], ["none", 4]] as const) assert.equal(mentionAt(text, caret), undefined, text);
  assert.equal(without("look at @git now", { from: 8, query: "git" }), "look at  now");
});

test("the list has its groups in their order, and what fits", () => {
  const item = (group: AtItem["group"], label: string, more: object = {}): AtItem => ({ group, key: label, label, choose: () => undefined, ...more });
  const items = [item("Resources", "notes"), item("Files", "Choose files…", { isOurs: true }), item("Tabs", "GitHub", { about: "github.com" }), ...Array.from({ length: 9 }, (_, at) => item("Tabs", `tab ${at}`))];
  assert.deepEqual(foundIn(items, "github.c").map(({ label }) => label), ["GitHub", "Choose files…"]);
  assert.equal(foundIn(items, "").filter(({ group }) => group === "Tabs").length, 6);
  assert.deepEqual([moved(0, -1, 3), moved(2, 1, 3), moved(0, 1, 0)], [2, 0, 0]);
});
