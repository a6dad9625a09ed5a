// What a server asks the person during a call of a turn: a form above the field.
//
//   chat_ask ─► a form ─┬─ Answer ──► accept, with what was typed ─┐
//                       └─ Decline ─► decline ─────────────────────┴─► mcp_answer
//
// Owns the forms of the chats that this panel has heard of. All words in them are a server's. Must never answer for the person.

import { type Fields, isFields } from "../../../shared/ports/wire.ts";
import type { TurnEvent } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { type Draft, type Problems, argumentsOf, begun } from "../form/draft.ts";
import { fieldsOf } from "../form/fields.ts";
import type { Field } from "../form/schema.ts";
import type { Hands } from "../hands.ts";
import { button, failure, foreign, oneLine } from "../parts.ts";
import type { ServerAsk } from "../serve.ts";

/** A question that waits for the person. */
export interface AskedForm {
  id: number;
  session: string;
  server: string;
  message: string;
  fields: Field[];
  draft: Draft;
  problems: Problems;
}

const ACT = "server ask";

/** A server asks. What no form can be made of is declined. */
export function heardAsk(hands: Hands, payload: Fields): void {
  const ask = payload as unknown as ServerAsk;
  const params = isFields(ask.params) ? ask.params : {};
  const { plan, draft } = begun(params["requestedSchema"] ?? { type: "object" });
  if (ask.method !== "elicitation/create" || plan.is !== "form") return answer(hands, ask.ask_id, { action: "decline" });
  const form = { id: ask.ask_id, session: ask.session_id, server: ask.server_id, message: String(params["message"] ?? ""), fields: plan.fields, draft, problems: new Map() };
  hands.change({ asks: [...hands.state.asks, form] });
}

/** An event of a turn: with the result of its server's last call that runs, and with the turn, a question is over. */
export function asksAfter(hands: Hands, session: string, { type, tool }: TurnEvent): void {
  const { chat } = hands.state;
  const runs = (server: string) =>
    chat?.id === session && chat.turn?.items.some((item) => item.is === "step" && item.state === "running" && item.tool.startsWith(`${server}/`)) === true;
  const isLast = ({ server }: AskedForm) => type === "tool_result" && tool?.startsWith(`${server}/`) === true && !runs(server);
  const isOver = (one: AskedForm): boolean => one.session === session && (type === "final" || type === "error" || isLast(one));
  if (hands.state.asks.some(isOver)) hands.change({ asks: hands.state.asks.filter((one) => !isOver(one)) });
}

/** The forms of the chat that is shown. */
export function askForms(hands: Hands): Child[] {
  const here = hands.state.asks.filter(({ session }) => session === hands.state.chat?.id);
  return [...here.map((one) => formOf(hands, one)), failure(hands, ACT)];
}

function formOf(hands: Hands, form: AskedForm): VNode {
  const changed = () => hands.change({});
  const submit = (event: Event) => {
    event.preventDefault();
    const { args, problems } = argumentsOf(form.fields, form.draft);
    if (args !== undefined) return answer(hands, form.id, { action: "accept", content: args });
    hands.change({ asks: hands.state.asks.map((one) => (one.id === form.id ? { ...one, problems } : one)) });
  };
  return h(
    "form.prompt",
    { key: `ask ${form.id}`, novalidate: true, "aria-label": "A server's question", on: { submit } },
    h("p", {}, h("span.mono", {}, oneLine(form.server)), " asks you: ", foreign(form.message)),
    fieldsOf(form.fields, form.draft, `ask-${form.id}`, { problems: form.problems, changed }),
    h("p.soft", {}, "What you type goes to this server."),
    h("p.buttons", {}, h("button", { type: "submit" }, "Answer"), button("Decline", () => answer(hands, form.id, { action: "decline" }), { id: `decline-${form.id}`, class: "quiet" })),
  );
}

function answer(hands: Hands, id: number, result: Fields): void {
  hands.change({ asks: hands.state.asks.filter((one) => one.id !== id) });
  hands.act(ACT, async () => {
    const { answered } = await hands.ask("mcp_answer", { ask_id: id, result });
    if (!answered) hands.say("This question is no longer open");
  });
}
