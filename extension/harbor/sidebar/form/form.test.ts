// Forms made of schemas, and the arguments that come of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Draft, MOST_BOXES, argumentsOf, begun, draftOf, newItem, parseArguments, whole } from "./draft.ts";
import { type Field, planOf } from "./schema.ts";

function fieldsOf(properties: object, more: object = {}): Field[] {
  const plan = planOf({ type: "object", properties, ...more });
  assert.equal(plan.is, "form", JSON.stringify(plan));
  return plan.is === "form" ? plan.fields : [];
}

/** The draft of a form that is not too large. */
function drafted(fields: Field[], initial?: unknown): Draft {
  const draft = draftOf(whole(fields), initial);
  assert.ok(draft);
  return draft;
}

/** Types these texts into a form, by name. */
function typed(fields: Field[], texts: { [name: string]: string }): Draft {
  const draft = drafted(fields);
  fields.forEach((field, at) => {
    const box = (draft as { members: Draft[] }).members[at];
    const text = texts[field.name];
    if (box !== undefined && "text" in box && text !== undefined) box.text = text;
  });
  return draft;
}

const kinds = (fields: Field[]) => fields.map(({ name, is }) => `${name}:${is}`);

test("each kind of schema has its field", () => {
  const fields = fieldsOf({
    a: { type: "string" },
    b: { type: "integer" },
    c: { type: "number" },
    d: { type: "boolean" },
    e: { enum: ["x", 1, null] },
    f: { const: "only" },
    g: { type: "array", items: { type: "string" } },
    h: { type: "object", properties: { i: { type: "string" } } },
    j: { oneOf: [{ type: "string" }, { type: "number" }] },
    k: {},
    l: { type: "object", additionalProperties: { type: "string" } },
    m: { type: "array", prefixItems: [{}] },
  });
  const expected = "a:text b:number c:number d:yes_no e:choice f:choice g:list h:group j:json k:json l:json m:json";
  assert.equal(kinds(fields).join(" "), expected);
});

test("a text is one line, unless it is known to have more", () => {
  const long = (name: string, schema: object = {}) => {
    const [field] = fieldsOf({ [name]: { type: "string", ...schema } });
    return field?.is === "text" && field.long;
  };
  for (const name of ["city", "message", "path", "query", "context", "TEXT_ID"]) assert.equal(long(name), false, name);
  for (const name of ["content", "newText", "file_contents", "html-body", "SQL"]) assert.equal(long(name), true, name);
  assert.deepEqual([long("a", { maxLength: 5_000 }), long("text", { maxLength: 80 }), long("text", { format: "uri" })], [true, false, false]);
  assert.deepEqual([long("a", { default: "x\ny" }), long("a", { contentMediaType: "text/markdown" })], [true, true]);
});

test("or nothing, references and lists of types are what they mean", () => {
  const $defs = { Size: { type: "integer", description: "a size" } };
  const fields = fieldsOf(
    {
      a: { anyOf: [{ type: "string" }, { type: "null" }], default: null, title: "A" },
      b: { type: ["number", "null"] },
      c: { $ref: "#/$defs/Size" },
      d: { $ref: "#/$defs/Nothing" },
      e: { $ref: "#/properties/e" },
    },
    { $defs },
  );
  assert.equal(kinds(fields).join(" "), "a:text b:number c:number d:json e:json");
  assert.deepEqual([fields[0]?.title, fields[2]?.about], ["A", "a size"]);
});

test("what no form can say is JSON, with the reason", () => {
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, { type: "string" }]));
  let deep: object = { type: "string" };
  for (let at = 0; at < 40; at += 1) deep = { type: "object", properties: { deep } };
  for (const schema of [
    undefined,
    "x",
    true,
    { type: "string" },
    { oneOf: [{ type: "object" }] },
    { type: "object", allOf: [{}] },
    { type: "object", additionalProperties: true },
    { type: "object", properties: many },
    { type: "object", description: "x".repeat(100_000), properties: {} },
  ]) {
    const plan = planOf(schema);
    assert.equal(plan.is, "json", JSON.stringify(schema)?.slice(0, 80));
    assert.ok(plan.is === "json" && plan.why !== "");
  }
  assert.equal(planOf(deep).is, "form");
  assert.deepEqual(planOf({ type: "object" }), { is: "form", fields: [] });
});

test("arguments are what was typed, and defaults; what is empty and not needed is left out", () => {
  const fields = fieldsOf(
    { city: { type: "string" }, days: { type: "integer", default: 3 }, unit: { enum: ["c", "f"], default: "c" }, nights: { type: "boolean" }, note: { type: "string" } },
    { required: ["city"] },
  );
  assert.deepEqual(argumentsOf(fields, typed(fields, { city: "Bergen" })).args, { city: "Bergen", days: 3, unit: "c" });
  assert.deepEqual(argumentsOf(fields, typed(fields, { city: "Bergen", days: "", nights: "true", unit: "1" })).args, { city: "Bergen", unit: "f", nights: true });
});

test("what is missing or wrong is said at its field", () => {
  const fields = fieldsOf(
    { a: { type: "string" }, b: { type: "integer", minimum: 1, maximum: 9 }, c: { type: "number" }, d: {}, e: { enum: ["x", "y"] } },
    { required: ["a", "e"] },
  );
  const problems = (texts: { [name: string]: string }) => [...argumentsOf(fields, typed(fields, texts)).problems.values()];
  assert.deepEqual(problems({}), ["This is required", "This is required"]);
  assert.deepEqual(problems({ a: "x", e: "0", b: "1.5", c: "many", d: "{" }), [
    "This must be a whole number",
    "This must be a number",
    'This must be JSON: put a text in "quotation marks"',
  ]);
  assert.deepEqual(problems({ a: "x", e: "0", b: "0" }), ["This must be 1 or more"]);
  assert.deepEqual(problems({ a: "x", e: "0", b: "10" }), ["This must be 9 or less"]);
  assert.deepEqual(problems({ a: "x", e: "1", b: "9", c: "-1.5e3", d: '{"a":[1]}' }), []);
});

test("lists have as many items as were added, groups are left out when nothing is in them", () => {
  const fields = fieldsOf(
    { hours: { type: "array", items: { type: "integer" }, minItems: 2 }, place: { type: "object", properties: { country: { type: "string" } } } },
    { required: ["hours"] },
  );
  const draft = drafted(fields) as { members: Draft[] };
  const list = draft.members[0] as { items: ReturnType<typeof newItem>[] };
  assert.equal(list.items.length, 2);
  list.items.forEach((item, at) => ((item.draft as { text: string }).text = String(at + 6)));
  assert.deepEqual(argumentsOf(fields, draft).args, { hours: [6, 7] });
  list.items = list.items.slice(1);
  assert.deepEqual([...argumentsOf(fields, draft).problems.values()], ["At least 2 must be given"]);
  const place = draft.members[1] as { members: { text: string }[] };
  list.items.push(newItem((fields[0] as Extract<Field, { is: "list" }>).item, 9));
  if (place.members[0] !== undefined) place.members[0].text = "no";
  assert.deepEqual(argumentsOf(fields, draft).args, { hours: [7, 9], place: { country: "no" } });
});

test("a name that means something to JavaScript is a name", () => {
  const properties = JSON.parse('{"__proto__":{"type":"string"},"constructor":{"type":"string"}}');
  const fields = fieldsOf(properties);
  const { args } = argumentsOf(fields, typed(fields, Object.fromEntries([["__proto__", "a"], ["constructor", "b"]])));
  assert.equal(JSON.stringify(args), '{"__proto__":"a","constructor":"b"}');
});

test("typed JSON has to be an object; nothing is an empty one", () => {
  assert.deepEqual(parseArguments('{"a":1}'), { a: 1 });
  assert.deepEqual(parseArguments("  "), {});
  assert.equal(typeof parseArguments("[1]"), "string");
  assert.match(parseArguments("{") as string, /^This is not JSON/);
});

test("arguments become a form again", () => {
  const fields = fieldsOf({ a: { type: "string" }, b: { type: "array", items: { type: "number" } }, c: { type: "boolean" } });
  const args = { a: "x", b: [1, 2], c: false };
  assert.deepEqual(argumentsOf(fields, drafted(fields, args)).args, args);
});

/** How many boxes a draft has. */
function boxes(draft: Draft): number {
  const inner = "members" in draft ? draft.members : "items" in draft ? draft.items.map((item) => item.draft) : [];
  return inner.reduce((sum, one) => sum + boxes(one), 1);
}

/** Lists in lists, each with twenty items at least. */
const nest = (depth: number): object => (depth === 0 ? { type: "string" } : { type: "array", minItems: 20, items: nest(depth - 1) });
const props = (count: number, of: object) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, of]));

test("a small schema makes no large form: what would be is JSON, and says so", () => {
  const objects = { type: "array", items: { type: "object", properties: { a: { type: "string" } } }, default: Array(15_000).fill({}) };
  const lists = props(15, nest(3));
  for (const schema of [
    { type: "object", $defs: { d: objects }, properties: props(25, { $ref: "#/$defs/d" }) },
    { type: "object", properties: lists, required: Object.keys(lists) },
    { type: "object", properties: { p: { type: "array", items: { type: "integer" }, default: Array(20_000).fill(1) } } },
    { type: "object", properties: props(70, { enum: Array.from({ length: 200 }, (_, at) => at) }) },
  ]) {
    assert.ok(JSON.stringify(schema).length < 64 * 1024);
    const { plan, draft } = begun(schema);
    assert.deepEqual(plan, { is: "json", why: "its form would be too large" });
    assert.equal(boxes(draft), 1);
  }
});

test("items that have to be there are made in the outer list only, and no form begins with more boxes than it may", () => {
  const { plan, draft } = begun({ type: "object", properties: { p: nest(3) }, required: ["p"] });
  assert.deepEqual([plan.is, boxes(draft)], ["form", 1 + 1 + 20]);
  const fields = fieldsOf({ a: { type: "array", items: { type: "integer" } } });
  assert.ok(boxes(drafted(fields, { a: Array(MOST_BOXES - 2).fill(1) })) <= MOST_BOXES);
  assert.equal(draftOf(whole(fields), { a: Array(MOST_BOXES).fill(1) }), undefined);
  assert.equal(draftOf(whole(fields), { a: Array(1_000_000).fill(1) }), undefined);
});

test("an item whose defaults are too many comes without them", () => {
  const inner = { type: "array", items: { type: "integer" }, minItems: 20, default: Array(20_000).fill(1) };
  const [list] = fieldsOf({ a: { type: "array", items: { type: "object", properties: { inner } } } });
  assert.ok(list?.is === "list");
  assert.equal(boxes(newItem(list.item).draft), 2);
});
