// What a page says of its tools and gives as results, as it reaches the bridge.

import assert from "node:assert/strict";
import { test } from "node:test";
import { MOST_TOOLS } from "./forms.ts";
import { answerOf, isOfPage, labelOf, parseSourceCall, parseTools } from "./result.ts";

const ADD = { name: "add", description: "Adds" };
const read = (tools: unknown) => parseTools(JSON.stringify(tools)).map(({ offer }) => offer);

test("of a forged list only whole tools are taken, and of these only what is known", () => {
  assert.deepEqual(read([{ ...ADD, execute: 1, effect: "reads" }]), [ADD]);
  for (const bad of [null, 7, [], {}, { name: "add" }, { ...ADD, name: "a/b" }, { ...ADD, title: 7 }, { ...ADD, description: "" }, { ...ADD, description: "x".repeat(4_001) }, { ...ADD, inputSchema: [] }, { ...ADD, inputSchema: { a: "x".repeat(16_000) } }, { ...ADD, annotations: "x" }]) assert.deepEqual(read([bad]), [], JSON.stringify(bad)?.slice(0, 80));
  assert.deepEqual(read([ADD, { ...ADD, description: "Second" }]), [ADD]);
  for (const bad of [undefined, 7, "", "{", "{}", '"x"']) assert.deepEqual(parseTools(bad), []);
});

test("a list fits into one message", () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ ...ADD, name: `t${at}` }));
  assert.equal(read(many).length, MOST_TOOLS);
  assert.deepEqual(read([{ ...ADD, inputSchema: { a: "é".repeat(15_500) } }, { ...ADD, name: "sub" }]), [{ ...ADD, name: "sub" }]);
  const large = many.map((one) => ({ ...one, inputSchema: { a: "é".repeat(14_000) } }));
  const taken = read(large);
  assert.ok(taken.length > 0 && new TextEncoder().encode(JSON.stringify(taken)).length < 700_000);
});

test("a tool is known again by all that was said of it", () => {
  const [tool] = parseTools('[{"name":"add","description":"Adds","inputSchema":{"type":"object"}}]');
  assert.equal(tool?.mark, '{"name":"add","description":"Adds","inputSchema":{"type":"object"}}');
});

test("a label is the title without what hides in it, at most 64 bytes of whole letters, else the host", () => {
  assert.equal(labelOf(" A\u202E shop\n\u0000 ", "a.example"), "A shop");
  for (const empty of ["", "\u200B\n"]) assert.equal(labelOf(empty, "a.example:81"), "a.example:81");
  const long = labelOf("é😀".repeat(40), "h");
  assert.ok(new TextEncoder().encode(long).length <= 64 && /^(é😀)+é?$/u.test(long));
});

const text = (of: string) => [{ type: "text", text: of }];

test("a result is a CallToolResult: the page's own, else its text", () => {
  const result = (of: string) => answerOf({ is: "result", text: of }).result;
  assert.deepEqual(result("plain"), { content: text("plain") });
  assert.deepEqual(result('"quoted"'), { content: text("quoted") });
  assert.deepEqual(result("42"), { content: text("42") });
  assert.deepEqual(result("[1]"), { content: text("[1]") });
  assert.deepEqual(result('{"sum":3}'), { content: text('{"sum":3}'), structuredContent: { sum: 3 } });
  const own = { content: [{ type: "image", data: "AA", mimeType: "image/png" }], structuredContent: { a: 1 }, isError: true };
  assert.deepEqual(result(JSON.stringify({ ...own, _meta: { any: 1 } })), own);
  const forged = '{"content":[{"text":"x"}]}';
  assert.deepEqual(result(forged), { content: text(forged), structuredContent: JSON.parse(forged) });
});

test("what has no result says why", () => {
  assert.deepEqual(answerOf({ is: "threw", text: "no luck" }).result, { content: text("no luck"), isError: true });
  assert.deepEqual(answerOf({ is: "threw", text: "" }).result?.["isError"], true);
  const code = (called: unknown) => answerOf(called).error?.code;
  assert.deepEqual([{ is: "gone", text: "" }, { is: "changed", text: "" }, { is: "long", text: "" }, { is: "result", text: "x".repeat(300_001) }, undefined, null, {}, { is: "x", text: "" }, { is: "result" }].map(code), ["gone", "changed", "long", "long", "gone", "gone", "gone", "gone", "gone"]);
});

test("calls of pages are told from those of browsers", () => {
  assert.deepEqual([{ source_id: "page:a.example" }, { source_id: "browser" }, { source_id: 7 }, {}].map(isOfPage), [true, false, false, false]);
  const call = { call_id: "c", source_id: "page:a.example", tool_name: "add", arguments: { a: 1 }, timeout_ms: 5 };
  assert.deepEqual(parseSourceCall(call), { call_id: "c", source_id: "page:a.example", tool_name: "add", input: '{"a":1}', timeout_ms: 5 });
  assert.equal(parseSourceCall({ ...call, arguments: [1] })?.input, "{}");
  assert.equal(parseSourceCall({ ...call, tool_name: undefined }), undefined);
});
