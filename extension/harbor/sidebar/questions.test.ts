// Questions about calls in the panel: what is said of them, and when a yes can be pressed.

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { type Child, type VNode, textIn } from "./dom.ts";
import { Hands } from "./hands.ts";
import { type State, Store } from "./store.ts";
import { loadQuestions, questions, waitingOf } from "./views/questions.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const HERE = { at: "questions" } as const;
const QUESTION = {
  id: "q",
  state: "waiting",
  who: "page",
  principal: "https://a.example",
  tool: "files/wipe",
  effect: "destroys",
  reason: "destroys",
  why: "it may delete or overwrite something",
  private: [],
  fields: [{ key: "path", text: "/tmp/a" }, { key: "text", text: "long", bytes: 5_000 }],
  answers: ["once", "no", "of a newer bridge"],
  since: 0,
  until: 0,
};
const STANDING = { id: "s", covers: "ten_minutes", principal: "client://editor", what: "files/write", private: [], since: 0 };

/** The view with a bridge that the test plays. */
function played(open: object[], standing: object[] = []) {
  const seen: [string, object][] = [];
  const replies: { [type: string]: unknown } = { approvals_answer: { answered: true }, approvals_revoke: { revoked: 1 } };
  const store = new Store({ acts: {}, said: "", approvals: undefined } as unknown as State, () => undefined);
  const hands = new Hands(store, async (type, payload) => {
    seen.push([type, payload]);
    const whole = type === "approvals_list" && "approval_id" in payload ? { arguments: { path: "/tmp/a", text: "x".repeat(30_000) } } : {};
    return replies[type] ?? { waiting: open, standing, ...whole };
  });
  const shown = () => questions.show(hands, HERE);
  return { seen, hands, shown, said: () => shown().map(textIn).join("\n") };
}

function found(within: Child[], is: (node: VNode) => boolean): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(is(child) ? [child] : []), ...found(child.children, is)] : []));
}

const pressable = (node: VNode | undefined) => node !== undefined && node.attributes["aria-disabled"] === undefined;
const answers = (within: Child[]) => found(within, (node) => node.attributes["data-answer"] !== undefined);
const click = (node: VNode | undefined) => node?.on["click"]?.({} as Event);

test("a server that wants an answer of a model is shown with what it says, and with answers for that server", async () => {
  const asked = { ...QUESTION, who: "server", principal: "server:notes", tool: "notes/sampling/createMessage", reason: "sampling", why: "it wants your model p:m to answer it", answers: ["once", "always", "no", "never"] };
  const { hands, shown, said } = played([asked], [{ ...STANDING, principal: "server:notes", what: "notes/sampling/createMessage", covers: "once" }]);
  loadQuestions(hands);
  await settle();
  assert.match(said(), /notes \(a server\) wants an answer of your language model, by notes\/sampling\/createMessageYou are asked because it wants your model p:m to answer it\./);
  assert.deepEqual(answers(shown()).map(textIn), ["Don't allow", "Allow this once", "Always allow this server", "Never for this server"]);
  assert.match(said(), /notes\/sampling\/createMessage: one call, when it is repeatednotes \(a server\)Revoke/);
});

test("a plan is shown as what it names, and allowed as a plan", async () => {
  const fields = [{ key: "servers", text: "files, mail" }, { key: "new", text: "mail" }];
  const plan = { ...QUESTION, who: "chat", principal: "owner", tool: "update_plan", reason: "plan", why: "within this plan it would act without asking", fields, answers: ["once", "no"] };
  const { hands, shown, said } = played([plan], [{ ...STANDING, principal: "owner", covers: "plan", what: "files, write" }]);
  loadQuestions(hands);
  await settle();
  assert.match(said(), /Your model proposes a plan for its answer, by update_planYou are asked because within this plan it would act without asking\./);
  assert.match(said(), /serversfiles, mailnewmail/);
  assert.deepEqual(answers(shown()).map(textIn), ["Don't allow", "Allow this plan"]);
  assert.match(said(), /files, write: calls within this plan, until the model has answered/);
});

test("a question says who wants what, and why, with its arguments and the answers that are known here", async () => {
  const { hands, shown, said } = played([QUESTION, { ...QUESTION, id: "r", state: "missed", who: "client", principal: "client://editor", reason: "leaves", private: ["files", "gmail"] }], [STANDING]);
  loadQuestions(hands);
  await settle();
  assert.match(said(), /https:\/\/a\.example wants to call files\/wipeYou are asked because it may delete or overwrite something\./);
  assert.match(said(), /path\/tmp\/atextlongOnly its beginning: it has 5,000 bytes in all\.Show all/);
  assert.match(said(), /editor \(an AI app\) wants to call.*Nobody answered in time.*This would tell files something that comes from: files, gmail/s);
  assert.match(said(), /files\/write: this tool, for 10 minuteseditor \(an AI app\)Revoke/);
  assert.deepEqual(answers(shown()).map(textIn).slice(0, 2), ["Don't allow", "Allow this call"]);
  assert.deepEqual(waitingOf(hands.state), { ofChats: 0, ofOthers: 1 });
});

test("a yes can be pressed a second after the list has changed, a no at once", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 0;
  const clock = mock.method(performance, "now", () => now);
  try {
    const { hands, shown, seen } = played([QUESTION]);
    loadQuestions(hands);
    await settle();
    const [no, yes] = answers(shown());
    assert.deepEqual([pressable(no), pressable(yes)], [true, false]);
    now = 1_000;
    const [, later] = answers(shown());
    assert.ok(pressable(later));
    // As it changes between what is drawn and the click.
    hands.change({ approvals: { open: [], standing: [], whole: {} } });
    loadQuestions(hands);
    await settle();
    click(later);
    assert.ok(seen.every(([type]) => type !== "approvals_answer"));
    now = 2_000;
    click(answers(shown())[1]);
    assert.deepEqual(seen.at(-1), ["approvals_answer", { approval_id: "q", answer: "once" }]);
  } finally {
    clock.mock.restore();
    mock.timers.reset();
  }
});

test("a no can say why where a model hears it, and nowhere else", async () => {
  const { hands, shown } = played([QUESTION, { ...QUESTION, id: "c", who: "client" }, { ...QUESTION, id: "r", who: "run" }, { ...QUESTION, id: "m", who: "chat" }, { ...QUESTION, id: "n", who: "chat", answers: ["once"] }]);
  loadQuestions(hands);
  await settle();
  const because = found(shown(), (node) => node.attributes["data-because"] !== undefined);
  assert.deepEqual(because.map(({ attributes }) => attributes["data-because"]), ["r", "m"]);
  assert.ok(because.every(pressable));
});

test("arguments are opened whole, and what stands is revoked one by one or at once", async () => {
  const { hands, shown, seen, said } = played([QUESTION], [STANDING, { ...STANDING, id: "never", covers: "never", what: "browser" }]);
  loadQuestions(hands);
  await settle();
  click(found(shown(), (node) => node.attributes["data-whole"] === "q")[0]);
  await settle();
  assert.match(said(), /"text": "x{30000}"/);
  const revokes = found(shown(), (node) => node.tag === "button" && /^revoke-/.test(String(node.attributes["id"])));
  assert.deepEqual(revokes.map(textIn), ["Revoke", "Ask again", "Revoke all"]);
  seen.length = 0;
  for (const button of revokes) {
    click(button);
    await settle();
  }
  const asked = seen.filter(([type]) => type === "approvals_revoke").map(([, fields]) => fields);
  assert.deepEqual(asked, [{ approval_id: "s" }, { approval_id: "never" }, {}]);
});
