// An answer while it is written: what is read and drawn again with each piece, and what an unfinished end looks like.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Child, textIn } from "../dom.ts";
import { MarkdownView, markdown } from "./markdown.ts";
import { numbers, options, written } from "./testing.ts";
import { likely } from "./unfinished.ts";

const LONG = 50_000;
const PIECES = 500;
const filled = (text: string, length = LONG) => text.repeat(Math.ceil(length / text.length)).slice(0, length);

const MIXED = filled(`## Heading

A paragraph with **bold**, \`code\` and [a link](https://example.org/x).

- one
- two
  - three

\`\`\`js
const a = 1;
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quote

`);

function streamed(text: string, pieces: number, each: (children: Child[], text: string) => void = () => {}): MarkdownView {
  const view = new MarkdownView(options().options);
  for (let piece = 1; piece <= pieces; piece += 1) {
    const part = text.slice(0, Math.ceil((text.length * piece) / pieces));
    each(view.show(part, true), part);
  }
  view.show(text);
  return view;
}

test("a piece of an answer has only the last block read and drawn again", () => {
  let before: Child[] = [];
  let changed = 0;
  const view = streamed(MIXED, PIECES, (children) => {
    changed += children.filter((child, at) => child !== before[at]).length;
    before = children;
  });
  // Each character is read less than twice; a block is drawn while it grows, and then never again.
  assert.ok(view.lexed < 2 * LONG, `${view.lexed}`);
  assert.ok(view.drawn < 12 * PIECES, `${view.drawn}`);
  assert.ok(changed < 8 * PIECES, `${changed}`);
});

test("a block that goes on for long is read in parts", () => {
  const blocks: [string, number][] = [
    [filled("- an item with **bold** words\n"), 4],
    [`| a | b |\n|---|---|\n${filled("| some **x** | `y` |\n")}`, 4],
    [`\`\`\`js\n${filled("const a = 'b'; // some words\n")}`, 8],
    // These cannot be: they are read again when they have grown by an eighth.
    [filled("word **bold** and so on\n"), 16],
    [`- item\n${filled("  paragraph **b**\n\n")}`, 16],
  ];
  for (const [text, times] of blocks) {
    const { lexed, drawn } = streamed(text, PIECES);
    assert.ok(lexed < times * LONG, `${text.slice(0, 20)}: ${lexed}`);
    assert.ok(drawn < 12 * PIECES, `${text.slice(0, 20)}: ${drawn}`);
  }
});

test("all of a text is there with each piece", () => {
  for (const text of [filled("word **bold** and so on\n", 20_000), filled("> word\n", 20_000), filled("- item\n", 4_000), `\`\`\`\n${filled("line\n", 20_000)}`]) {
    const letters = (from: string) => from.replace(/[^a-z]/g, "").length;
    streamed(text, 100, (children, part) => {
      assert.ok(letters(children.map(textIn).join("")) >= letters(part), part.slice(0, 20));
    });
  }
});

// No tab right after a bullet: `marked` reads that in two ways, before a rule.
const BITS = [
  ...["# h\n", "## x", "para text ", "para\n", "\n", "\n\n", "- item\n", "- a", "* b\n", "1. one\n", "2) two\n", "  nested\n", "    code\n", "```js\n", "```\n", "let x;\n"],
  ...["~~~\n", "> quote\n", ">", "| a | b |\n", "|---|---|\n", "| 1 | 2 |\n", "---\n", "***", "**b**", "*i*", "_u_", "`c`", "[x](http://a.b)", "[x][d]", "<b>", "<div>\n"],
  ...["<!-- ", "-->", "\\", "&amp;", "- [ ] t\n", "- [x] d\n", "===\n", "~~s~~", "http://x.y/z ", "  ", " \t", "   - deep\n", "     more\n", "+", "=", "|", "word ", "😀", "\r\n"],
];
const BEGINNINGS = ["", "```js\n", "| a | b |\n|---|---|\n", "- x\n", "1. x\n"];

test("an answer that came in pieces is what it is at once", () => {
  const next = numbers(7);
  const pick = <T>(all: T[]) => all[next(all.length)] as T;
  for (let time = 0; time < 60; time += 1) {
    const few = time % 2 === 0 ? BITS : Array.from({ length: 2 + next(6) }, () => pick(BITS));
    const define = time % 5 === 0 ? "\n\n[d]: http://d.e\n" : "";
    const text = pick(BEGINNINGS) + Array.from({ length: 4 + next(250) }, () => pick(few)).join("") + define;
    const view = new MarkdownView(options().options);
    for (let at = 0; at < text.length; ) view.show(text.slice(0, (at += 1 + next(24))), true);
    // Space at the end of a line is none.
    const same = (children: Child[]) => written(children).replace(/\s+/g, " ").replaceAll(" <", "<");
    assert.equal(same(view.show(text)), same(markdown(text, options().options)), JSON.stringify(text));
  }
});

test("an end that is not written yet is read as what it will likely be", () => {
  const cases: [string, string][] = [
    ["a **bold", "a **bold**"],
    ["a **bold*", "a **bold**"],
    ["a *soft", "a *soft*"],
    ["a **b *c", "a **b *c***"],
    ["a ~~b", "a ~~b~~"],
    ["a **", "a "],
    ["2 * 3", "2 * 3"],
    ["2*3", "2*3"],
    ["**a *b*", "**a *b***"],
    ["a **b** c*", "a **b** c*"],
    ["(**b", "(**b**"],
    ["snake_case", "snake_case"],
    ["a `co", "a `co`"],
    ["a ``c`o", "a ``c`o``"],
    ["a `*c", "a `*c`"],
    ["a [lin", "a lin"],
    ["a [link](https://a.exa", "a link"],
    ["a [link]", "a link"],
    ["a ![pic](https://a", "a "],
    ["a [link](https://a.example)", "a [link](https://a.example)"],
    ["title\n-", "title"],
    ["| a | b |\n|--", "| a | b |"],
    ["- one **b\n- two", "- one **b\n- two"],
    ["```\nlet a = **b", "```\nlet a = **b"],
    ["- ```\n  [x", "- ```\n  [x"],
    ["```\na\n```\n**b", "```\na\n```\n**b**"],
  ];
  for (const [text, read] of cases) assert.equal(likely(text), read, text);
});

test("an open fence is code, and an open table a table, from their first lines", () => {
  const view = new MarkdownView(options().options);
  assert.match(written(view.show("Look:\n```py\nprint(1", true)), /^<p>Look:<\/p><div><div><span>py<\/span>.*<pre><code>print\(1<\/code>/);
  assert.match(written(view.show("Look:\n```py\nprint(1)\n```\n| a |\n|---|\n| b", true)), /<table>.*<td>b<\/td>/);
  // Another text is another answer.
  assert.equal(written(view.show("No.", true)), "<p>No.</p>");
  assert.equal(written(view.show("No. 😀".slice(0, 5), true)), "<p>No. </p>");
});
