// What a server asks during a turn, as the panel shows it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { TurnEvent } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, textIn } from "../dom.ts";
import { Hands } from "../hands.ts";
import { type State, Store } from "../store.ts";
import { askForms, asksAfter, heardAsk } from "./server_ask.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** The panel with a chat, and what it sends. */
function played() {
  const seen: [string, object][] = [];
  const store = new Store({ acts: {}, said: "", asks: [], chat: { id: "c" } } as unknown as State, () => undefined);
  const hands = new Hands(store, async (type, payload) => {
    seen.push([type, payload]);
    return { answered: true };
  });
  return { seen, hands, forms: () => askForms(hands).filter((one): one is VNode => typeof one === "object" && one.tag.startsWith("form")) };
}

const CHOICES = [{ const: "a", title: "First" }, { const: "b" }];
const asked = (requestedSchema: unknown, session_id = "c") => ({ session_id, ask_id: 7, server_id: "files", method: "elicitation/create", params: { message: "Which one?", requestedSchema } });
const event = (type: string, tool?: string) => ({ type, tool }) as TurnEvent;

function inputs(within: Child[]): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(["input", "select"].includes(child.tag) ? [child] : []), ...inputs(child.children)] : []));
}

test("a form has the server's question, and its answer what was typed", async () => {
  const { seen, hands, forms } = played();
  heardAsk(hands, asked({ type: "object", required: ["name"], properties: { name: { type: "string" }, one: { type: "string", oneOf: CHOICES } } }));
  assert.match(forms().map(textIn).join(), /files asks you: Which one\?.*What you type goes to this server/);
  const submit = () => forms()[0]?.on["submit"]?.({ preventDefault: () => undefined } as Event);
  submit();
  assert.deepEqual(seen, [], "the name is needed");
  const [name, one] = inputs(forms());
  name?.on["input"]?.({ target: { value: "Ada" } } as unknown as Event);
  one?.on["input"]?.({ target: { value: "1" } } as unknown as Event);
  submit();
  await settle();
  assert.deepEqual(seen, [["mcp_answer", { ask_id: 7, result: { action: "accept", content: { name: "Ada", one: "b" } } }]]);
  assert.deepEqual(forms(), []);
});

test("what no form can be made of is declined, and a question ends with its call and its turn", async () => {
  const { seen, hands, forms } = played();
  heardAsk(hands, { ...asked({}), method: "sampling/createMessage" });
  await settle();
  assert.deepEqual(seen, [["mcp_answer", { ask_id: 7, result: { action: "decline" } }]]);
  for (const [over, left] of [[event("tool_result", "other/t"), 1], [event("text"), 1], [event("tool_result", "files/t"), 0]] as const) {
    hands.change({ asks: [] });
    heardAsk(hands, asked({ type: "object", properties: {} }));
    asksAfter(hands, "c", over);
    assert.equal(forms().length, left, over.type);
  }
  // Two calls of one server at once.
  hands.change({ asks: [], chat: { id: "c", turn: { items: [{ is: "step", tool: "files/t", state: "running" }] } } as unknown as State["chat"] });
  heardAsk(hands, asked({ type: "object", properties: {} }));
  asksAfter(hands, "c", event("tool_result", "files/t"));
  assert.equal(forms().length, 1, "the other call may have asked");
  asksAfter(hands, "c", event("final"));
  heardAsk(hands, asked({ type: "object", properties: {} }, "of another chat"));
  assert.equal(forms().length, 0);
  asksAfter(hands, "of another chat", event("final"));
  assert.equal(hands.state.asks.length, 0);
});
