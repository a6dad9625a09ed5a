// The first steps: when they are shown, what is left of them, what is remembered; and what does not fit before a message is sent.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Model, Server } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, textIn } from "../dom.ts";
import { Hands } from "../hands.ts";
import { NO_PROVIDERS } from "../models/known.ts";
import { type State, Store } from "../store.ts";
import { firstRun, harborStep, parseFirstRun, stepsOf } from "./first_run.ts";
import { mismatch, mismatchOf } from "./mismatch.ts";
import { modelMenu } from "./picking.ts";

const MODEL: Model = { id: "echo:echo", provider: "echo", model: "echo", is_local: true };
const SERVER = { server_id: "time", label: "time" } as Server;
const NEW = parseFirstRun(undefined);

const models = (...list: Model[]) => ({ list, chosen: list[0]?.id });

test("steps are shown to those who have begun without a model, until each is done or skipped", () => {
  const steps = (list: Model[], servers: Server[], firstRun = NEW) => stepsOf({ models: models(...list), servers, firstRun });
  assert.deepEqual(steps([], []), { model: "open", server: "open" });
  assert.deepEqual(steps([], [SERVER], { ...NEW, skipped: ["model"] }), { model: "skipped", server: "done" });
  assert.deepEqual(steps([MODEL], [], { ...NEW, begun: true }), { model: "done", server: "open" });
  assert.equal(steps([MODEL], []), undefined, "set up elsewhere");
  assert.equal(steps([], [], { ...NEW, begun: true, isOver: true }), undefined);
  for (const unknown of ["models", "servers", "firstRun"]) assert.equal(stepsOf({ models: models(), servers: [], firstRun: NEW, [unknown]: undefined }), undefined, unknown);
});

test("what was remembered is read, and what cannot be is as if nothing had been", () => {
  assert.deepEqual(parseFirstRun({ begun: true, isOver: false, skipped: ["model", "x", 1] }), { begun: true, isOver: false, skipped: ["model"] });
  for (const value of [undefined, null, "x", { skipped: "model" }, []]) assert.deepEqual(parseFirstRun(value), { begun: false, isOver: false, skipped: [] });
});

const store = { kept: {} as { [key: string]: unknown } };

/** A panel with this state; what it keeps is in `store`. */
function panel(more: object): Hands {
  store.kept = {};
  (globalThis as { chrome?: unknown }).chrome = { storage: { local: { get: async () => ({}), set: async (values: object) => void Object.assign(store.kept, values) } } };
  const state = { bridge: { state: "ready" }, acts: {}, said: "", servers: [], models: models(), providers: { ...NO_PROVIDERS, list: [] }, firstRun: NEW, composing: { attached: [], isPrivate: false }, ...more };
  return new Hands(new Store(state as unknown as State, () => undefined), async () => ({}));
}

function found(within: Child[], is: (node: VNode) => boolean): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(is(child) ? [child] : []), ...found(child.children, is)] : []));
}

const press = (hands: Hands, name: string, value: string) =>
  found(firstRun(hands) ?? [], ({ attributes }) => attributes[name] === value)[0]?.on["click"]?.({} as Event);

const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a skipped step is remembered, can be done after all, and the last one ends them with a way left", async () => {
  const hands = panel({});
  assert.match((firstRun(hands) ?? []).map(textIn).join("\n"), /Runs on this machine.*program that writes the answers.*stays here/s);
  await settle();
  press(hands, "data-later", "model");
  await settle();
  assert.deepEqual(store.kept["first run"], { begun: true, isOver: false, skipped: ["model"] });
  press(hands, "data-now", "model");
  assert.deepEqual(hands.state.firstRun?.skipped, []);
  press(hands, "data-later", "model");
  press(hands, "data-later", "server");
  firstRun(hands);
  await settle();
  assert.deepEqual(store.kept["first run"], { begun: true, isOver: true, skipped: ["model", "server"] });
  assert.match((firstRun(hands) ?? []).map(textIn).join("\n"), /No model yet.*Choose a model/s);
  hands.change({ models: models(MODEL) });
  assert.equal(firstRun(hands), undefined);
});

test("where Harbor is not found that is the first step, unless they are over", () => {
  assert.match(textIn(harborStep(panel({}))), /Step 1 of 3/);
  assert.equal(textIn(harborStep(panel({ firstRun: { ...NEW, isOver: true } }))), "");
});

test("the server step leads to three installations, and only once a model is no question any more", () => {
  const cards = (hands: Hands) => found(firstRun(hands) ?? [], ({ attributes }) => attributes["data-card"] !== undefined).map(({ attributes }) => attributes["href"]);
  assert.deepEqual(cards(panel({})), []);
  assert.deepEqual(cards(panel({ models: models(MODEL), firstRun: { ...NEW, begun: true } })), ["#install/time", "#install/fetch", "#install/memory"]);
});

test("what does not fit is said before it is sent, and only where a provider says so", () => {
  const no = { ...MODEL, tools: false, vision: false };
  assert.equal(mismatchOf([], undefined, true, true), "no model");
  assert.equal(mismatchOf([MODEL], "gone:x", true, false), "gone");
  assert.equal(mismatchOf([MODEL], undefined, true, false), "none chosen");
  assert.equal(mismatchOf([no], no.id, true, true), "no pictures");
  assert.equal(mismatchOf([no], no.id, true, false), "no tools");
  assert.equal(mismatchOf([no], no.id, false, false), undefined);
  assert.equal(mismatchOf([MODEL], MODEL.id, true, true), undefined, "it does not say");
  const line = (more: object) => textIn(mismatch(panel({ models: models(no), ...more })));
  assert.match(line({ servers: [SERVER] }), /^echo was not made to use tools, so it answers without them/);
  assert.match(line({ servers: [SERVER], composing: { attached: [], servers: ["notes"], isPrivate: false } }), /^echo was not made to use tools, and may fail/);
  assert.equal(line({ servers: [SERVER], composing: { attached: [], servers: [], isPrivate: false } }), "");
  assert.match(line({ composing: { attached: [{ is: "image", title: "a.png" }], isPrivate: false } }), /^echo sees no pictures.*Models/);
});

test("the menu of models has a search above eight, which finds them", () => {
  const many = (count: number) => models(...Array.from({ length: count }, (_, at) => ({ ...MODEL, id: `echo:m${at}`, model: `m${at}`, is_local: at !== 7 })));
  const menu = (list: Model[], query = "") => [modelMenu(panel({ models: { list, chosen: list[0]?.id }, providers: { ...NO_PROVIDERS, queries: { menu: query } } }))];
  const count = (shown: Child[], name: string) => found(shown, ({ attributes }) => attributes[name] !== undefined).length;
  const has = (shown: Child[]) => found(shown, ({ tag }) => tag === "input").length;
  assert.deepEqual([has(menu(many(8).list)), has(menu(many(9).list))], [0, 1]);
  const one = menu(many(9).list, "m7");
  assert.equal(count(one, "data-model"), 1);
  assert.match(textIn(one[0]), /Leaves this machine/);
  assert.equal(count(menu(many(90).list), "data-model"), 50);
});
