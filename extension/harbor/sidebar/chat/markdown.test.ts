// An answer in Markdown as elements, and what a hostile one becomes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { textIn } from "../dom.ts";
import { MOST_TEXT, MarkdownView, markdown } from "./markdown.ts";
import { all, find, numbers, options, written } from "./testing.ts";

const shown = (text: string) => written(markdown(text, options().options));

test("each kind of block and mark has its element", () => {
  const cases: [string, string][] = [
    ["# A\n\n## B\n### C\n#### D", "<h4>A</h4><h5>B</h5><h6>C</h6><h6>D</h6>"],
    ["one\ntwo  \nthree", "<p>one\ntwo<br></br>three</p>"],
    ["**a** *b* ~~c~~ `d**` \\*", "<p><strong>a</strong> <em>b</em> <del>c</del> <code>d**</code> *</p>"],
    ["- a\n- b\n  1. c", "<ul><li><span>a</span></li><li><span>b</span><ol><li><span>c</span></li></ol></li></ul>"],
    ["3. a\n\n4. b", '<ol start="3"><li><p>a</p></li><li><p>b</p></li></ol>'],
    ["- [ ] a\n- [x] b", '<ul><li><span aria-label="To do:">☐ </span><span>a</span></li><li><span aria-label="Done:">☑ </span><span>b</span></li></ul>'],
    ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
    ["---", "<hr></hr>"],
    ["&amp; &lt;b&gt; &nbsp;&#65; &nonsense; &constructor;", "<p>& <b>  A &nonsense; &constructor;</p>"],
    ["`&amp;`", "<p><code>&amp;</code></p>"],
  ];
  for (const [text, elements] of cases) assert.equal(shown(text), elements, text);
});

test("a table has a place of its own to scroll in", () => {
  const children = markdown("| a | b |\n|:-:|--:|\n| 1 | **2** |", options().options);
  const rows = '<thead><tr><th data-align="center">a</th><th data-align="right">b</th></tr></thead><tbody><tr><td data-align="center">1</td><td data-align="right"><strong>2</strong></td></tr></tbody>';
  assert.equal(written(children), `<div aria-label="Table, 2 columns"><table>${rows}</table></div>`);
  assert.equal(find(children, "div").attributes["tabindex"], "0");
});

test("HTML is text", () => {
  assert.equal(shown("a <b onclick=x>b</b><img src=x onerror=y>"), "<p>a <b onclick=x>b</b><img src=x onerror=y></p>");
  assert.equal(shown("<script>\nalert(1)\n</script>"), "<p><script>\nalert(1)\n</script></p>");
  assert.equal(shown("a<br>b<BR/>c"), "<p>a<br></br>b<br></br>c</p>");
  const tags = all(markdown("<iframe src=x>\n\n<svg/onload=x> <style>*{}</style> <a href='javascript:x'>y</a>", options().options)).map(({ tag }) => tag);
  assert.deepEqual(tags, ["p", "p"]);
  // An open tag says nothing of what follows.
  assert.match(shown("<code>\n\n<a x> https://a.example/"), /<a href="https:\/\/a\.example\/">/);
});

test("a link says where it leads, and the person goes there by the caller", () => {
  const { options: given, opened } = options();
  const text = "[x](https://a.example/b) [mail](mailto:me@a.example) https://c.example/ [s](https://a.example/?q=1) [пример](https://пример.example)";
  const children = markdown(text, given);
  assert.equal(
    textIn(children[0]),
    "x (a.example) mail (me@a.example) https://c.example/ s (a.example) пример (xn--e1afmkfd.example)",
  );
  const links = all(children).filter(({ tag }) => tag === "a");
  let prevented = 0;
  for (const { attributes, on } of links) {
    assert.deepEqual([attributes["target"], attributes["rel"]], ["_blank", "noopener noreferrer"]);
    on["click"]?.({ preventDefault: () => (prevented += 1) } as unknown as Event);
    on["auxclick"]?.({ preventDefault: () => assert.fail(), button: 2 } as unknown as Event);
  }
  assert.equal(prevented, 5);
  assert.deepEqual(opened.map(([, carries]) => carries), [false, false, false, true, false]);
  links[0]?.on["auxclick"]?.({ preventDefault: () => {}, button: 1 } as unknown as Event);
  assert.deepEqual(opened.at(-1), ["https://a.example/b", false]);
});

test("what may not be led to is text, and no picture is loaded", () => {
  for (const address of ["javascript:alert(1)", "JAVASCRIPT:x", "java&#115;cript:x", "data:text/html,x", "file:///etc/passwd", "chrome://settings", "about:x", "/here", "blob:x", "https://"]) {
    const children = markdown(`[x](<${address}>) ![y](<${address}>)`, options().options);
    assert.equal(written(children), "<p>x picture: y</p>", address);
  }
  const children = markdown("![cat](https://p.example/a.png?d=secret) [![b](https://p.example/b.png)](https://c.example)", options().options);
  assert.equal(textIn(children[0]), "picture: cat (p.example) picture: b (c.example)");
  assert.equal(all(children).some(({ tag }) => tag === "img"), false);
});

test("nothing hides or changes the order of its surroundings", () => {
  assert.equal(shown("a\u202Eb `c\u200B` [d\u2066](https://a.example) \0 \uD800"), '<p>a⟨202E⟩b <code>c⟨200B⟩</code> <a href="https://a.example/">d⟨2066⟩</a><span> (a.example)</span> ⟨0000⟩ ⟨D800⟩</p>');
  assert.equal(shown("⚠️ שלום"), "<p>⚠️ שלום</p>");
  for (const { tag, attributes } of all(markdown("שלום **a** [ב](https://a.example)\n\n- ג\n\n> ד\n\n# ה", options().options))) {
    if (["p", "ul", "blockquote", "h4", "bdi"].includes(tag)) assert.match(String(attributes["dir"]), /auto|ltr/, tag);
  }
});

test("what is very long is shown in part, and all of it when the person wants", () => {
  const { options: given, refreshed } = options();
  const text = Array.from({ length: 10_000 }, (_, at) => `- item ${at}`).join("\n");
  const view = new MarkdownView(given);
  const items = () => all(view.show(text)).filter(({ tag }) => tag === "li").length;
  assert.equal(items(), 1_000);
  find(view.show(text), "button", "Show 9000 more").on["click"]?.({} as Event);
  assert.deepEqual([refreshed(), items()], [1, 10_000]);
  const rows = markdown(`|a|\n|-|\n${"|b|\n".repeat(3_000)}`, { ...given, refresh: undefined });
  assert.equal(all(rows).filter(({ tag }) => tag === "td").length, 1_000);
  assert.match(written(rows), /2000 more are not shown here/);
  const long = markdown("a".repeat(MOST_TEXT + 1), given);
  assert.equal(textIn(long[0]).length, MOST_TEXT);
  assert.match(written(long.slice(1)), /too long/);
});

test("hostile texts become something, within bounds", () => {
  const hostile = [
    ...["[", "]", "*", "_", "`", "~", "<", "(", "![", "[a](", "**a ", "*a _b ", "\\", "|", "&", "a@", "> ", ">", "- ", "1. ", "#", "\0", "\uDC00", "\uD800 ", "\u202E", "\t", " ", "\n", "\r"].map((one) => one.repeat(10_000)),
    "[".repeat(10_000) + "]".repeat(10_000),
    ">".repeat(1_000) + " x",
    Array.from({ length: 200 }, (_, at) => `${" ".repeat(at * 2)}- x`).join("\n"),
    `${"|a".repeat(3_000)}|\n${"|-".repeat(3_000)}|\n${`${"|x".repeat(3_000)}|\n`.repeat(5)}`,
    "w".repeat(100_000),
    "[a]: https://a.example\n".repeat(5_000),
    "```".repeat(3_000),
    "- [x] ".repeat(2_000),
  ];
  for (const text of hostile) {
    const children = markdown(text, options().options);
    assert.ok(depth(children) < 60, text.slice(0, 20));
    assert.ok(all(children).length < 60_000, text.slice(0, 20));
  }
});

function depth(children: readonly unknown[]): number {
  return 1 + Math.max(0, ...children.map((child) => (typeof child === "object" ? depth((child as { children: [] }).children) : 0)));
}

test("no text is too strange: only known elements, and only safe addresses", () => {
  const next = numbers(46);
  const letters = [..."ab \n\n\n#*_`~[]()<>!|-+=:\\&;/.@1\t\"'\0\u202E\u05D0", "\uD83D", "\uDE00", "http://", "javascript:", "```\n", "- [ ] ", "|-|\n", "<!--", "&#x202e;", "data:"];
  const known = "p h4 h5 h6 strong em del code br a bdi span ul ol li blockquote hr div table thead tbody tr th td pre button".split(" ");
  for (let time = 0; time < 1_500; time += 1) {
    const text = Array.from({ length: next(120) }, () => letters[next(letters.length)]).join("");
    for (const { tag, attributes } of all(markdown(text, options().options))) {
      assert.ok(known.includes(tag), JSON.stringify(text));
      assert.match(String(attributes["href"] ?? "https:"), /^(https?|mailto):/, JSON.stringify(text));
      assert.deepEqual(Object.keys(attributes).filter((name) => /^on|^src|^style$/.test(name)), []);
    }
  }
});
