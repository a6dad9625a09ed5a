// Code in an answer: its button, its fold, its colours.

import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../dom.ts";
import { Highlighting, type Languages, MOST_COLOURED } from "./highlighting.ts";
import { MarkdownView, markdown } from "./markdown.ts";
import { all, find, options, written } from "./testing.ts";

const fenced = (code: string, language = "js") => `\`\`\`${language}\n${code}\n\`\`\`\n`;

test("code is copied as it was written", async () => {
  const copied: string[] = [];
  const said: string[] = [];
  Object.defineProperty(globalThis, "navigator", { value: { clipboard: { writeText: (text: string) => void copied.push(text) } }, configurable: true });
  const code = "a\u202Eb\n\tc  ";
  const children = markdown(fenced(code), options({ say: (words) => said.push(words) }).options);
  assert.equal(textIn(find(children, "pre")), "a⟨202E⟩b\n\tc  ");
  assert.equal(textIn(find(children, "span")), "js");
  find(children, "button", "Copy").on["click"]?.({} as Event);
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual([copied, said], [[code], ["Copied"]]);
});

test("long code shows its beginning until the person opens it", () => {
  const lines = (count: number) => markdown(fenced(Array.from({ length: count }, (_, at) => `line ${at}`).join("\n")), options().options);
  assert.equal(all(lines(25)).filter(({ tag }) => tag === "button").length, 1);
  const children = lines(26);
  const set: [string, unknown][] = [];
  const parentElement = { toggleAttribute: (...given: [string, unknown]) => set.push(given) };
  const currentTarget = { parentElement, getAttribute: () => "false", setAttribute: (...given: [string, unknown]) => set.push(given) };
  find(children, "button", "Show all 26 lines").on["click"]?.({ currentTarget } as unknown as Event);
  assert.deepEqual(set, [["aria-expanded", "true"], ["data-open", true]]);
});

test("colours come when their languages have been loaded", async () => {
  let loads = 0;
  const highlighting = new Highlighting(() => {
    loads += 1;
    return import("./languages.ts");
  });
  const { options: given, refreshed } = options({ highlighting });
  const view = new MarkdownView(given);
  const text = `- a\n${fenced("const a = 'b';").replace(/^(?=.)/gm, "  ")}\n\n${fenced("let a;")}`;
  assert.doesNotMatch(written(view.show("no code", true)), /data-kind/);
  assert.equal(loads, 0);
  assert.doesNotMatch(written(view.show(text)), /data-kind/);
  view.show(text);
  while (refreshed() === 0) await new Promise(setImmediate);
  const coloured = view.show(text);
  assert.match(written(coloured), /<li>.*<span data-kind="keyword">const<\/span> a = <span data-kind="string">'b'<\/span>;/);
  assert.match(written(coloured), /<span data-kind="keyword">let<\/span> a;/);
  assert.deepEqual([loads, refreshed(), view.show(text)[2] === coloured[2]], [1, 1, true]);
  // What still grows has none yet.
  assert.doesNotMatch(written(view.show("```js\nlet a;", true)), /data-kind/);
});

test("colours lose no letter, in any language", async () => {
  const highlighting = new Highlighting();
  const ready = new Promise<void>((then) => highlighting.want(then));
  await ready;
  const code = "<style>a { b: c }</style><script>let d = `e ${f}`;</script> # g\n-- h\n/* i */ \"j\" 'k' \u202E &lt; fn l() -> u8 { 1 }";
  for (const language of ["bash", "sh", "c", "cpp", "css", "diff", "go", "html", "java", "js", "json", "py", "rs", "sql", "ts", "yaml"]) {
    const parts = highlighting.coloured(code, language);
    assert.equal(parts?.map(textIn).join(""), code.replace("\u202E", "⟨202E⟩"), language);
  }
  assert.equal(highlighting.coloured(code, "nonsense"), undefined);
  assert.equal(highlighting.coloured("a ".repeat(MOST_COLOURED), "js"), undefined);
});

test("where colours cannot be loaded code stays plain, and is not waited for", async () => {
  const highlighting = new Highlighting(() => Promise.reject(new Error("gone")) as Promise<Languages>);
  const { options: given, refreshed } = options({ highlighting });
  const view = new MarkdownView(given);
  view.show(fenced("let a;"));
  while (refreshed() === 0) await new Promise(setImmediate);
  const plain = view.show(fenced("let a;"));
  assert.match(written(plain), /<code>let a;<\/code>/);
  assert.equal(view.show(fenced("let a;"))[0], plain[0]);
});
