// Questions about calls that wait for the person, wherever they were asked, and the answers that stand.
//
// Owns how they are listed and answered here, and when a yes can be pressed: the list moves as questions come and go, and a click that
// was on its way to one of them must not land on another. Must never offer an answer that the bridge does not.

import type { Approval, ApprovalField, StandingAnswer } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Guard, inertFor, mayAllow, pressed, stirred } from "../../consent/inert.ts";
import { ANSWER_WORDS, FILES_WORDS, LEAVES_WORDS, actWords, callerWords, cutWords, isCut } from "../../consent/words.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, failure, foreign, lines, oneLine, waiting } from "../parts.ts";
import type { State } from "../store.ts";
import { timeWords } from "../words.ts";
import { becauseButton, becauseField, isHeard } from "./because.ts";
import { back } from "./head.ts";

const READ = "questions";

const NO_WORDS: { [answer: string]: string } = { no: "Don't allow", never: "Never for this app" };

/** What the answers to a server are called that wants an answer of a model. */
const SERVER_WORDS: { [answer: string]: string } = { once: "Allow this once", always: "Always allow this server", never: "Never for this server" };

/** What the answers to a plan are called. */
const PLAN_WORDS: { [answer: string]: string } = { once: "Allow this plan", no: "Don't allow" };

const STANDING_WORDS: { [covers: string]: string } = {
  once: "one call, when it is repeated",
  chat_tool: "this tool, in one chat",
  chat_server: "what this server's tools write, in one chat",
  flow: "what comes from there, in one chat",
  pair: "what comes from there, on one connection",
  ten_minutes: "this tool, for 10 minutes",
  always: "this tool, always",
  plan: "calls within this plan, until the model has answered",
  never: "never asked about",
};

let guard: Guard = { since: undefined };
let due: ReturnType<typeof setTimeout> | undefined;

export const questions: View<{ at: "questions" }> = {
  title: () => "Questions",
  enter(hands, _, signal) {
    stir();
    loadQuestions(hands, signal);
  },
  show: (hands) => [
    back({ at: "sites" }, "Access"),
    h("h2.unseen", { tabindex: "-1", id: "title" }, "Questions"),
    h("p.soft", {}, "Calls that wait for your approval, and the answers that stand. What you revoke ends at once."),
    failure(hands, READ),
    ...shown(hands),
  ],
};

/** Reads what waits and what stands. */
export function loadQuestions(hands: Hands, left?: AbortSignal): void {
  hands.read(READ, async (signal) => {
    const { waiting: open, standing } = await hands.ask("approvals_list", {}, { signal });
    const { open: before = [], whole = {} } = hands.state.approvals ?? {};
    if (idsOf(open) !== idsOf(before)) stir();
    const kept = Object.entries(whole).filter(([id]) => open.some((one) => one.id === id));
    hands.change({ approvals: { open, standing, whole: Object.fromEntries(kept) } });
  }, left);
}

/** How many questions somebody waits for: the person's own chats, and everybody else. */
export function waitingOf({ approvals }: Pick<State, "approvals">): { ofChats: number; ofOthers: number } {
  const open = (approvals?.open ?? []).filter(({ state }) => state === "waiting");
  const ofChats = open.filter(({ who }) => who === "chat").length;
  return { ofChats, ofOthers: open.length - ofChats };
}

const idsOf = (open: Approval[]): string => open.map(({ id }) => id).join(" ");

function stir(): void {
  guard = stirred("changed", performance.now(), guard);
}

function shown(hands: Hands): Child[] {
  const { approvals } = hands.state;
  if (approvals === undefined) return [waiting("Asking Harbor…")];
  const { open, standing } = approvals;
  return [
    open.length === 0 ? empty("Nothing waits for you.") : questionList(hands, open),
    h("h3", {}, "Answers that stand"),
    standing.length === 0 ? empty("None. Harbor asks you about each call that needs approval.") : h("ul.rows.standing", {}, ...standing.map((one) => stands(hands, one))),
    standing.length > 1 ? button("Revoke all", () => revoke(hands, undefined), { id: "revoke-all", class: "quiet danger", busy: hands.isBusy(revoking(undefined)) }) : undefined,
    failure(hands, revoking(undefined)),
  ];
}

/** Questions with their answers. */
export function questionList(hands: Hands, list: Approval[]): VNode {
  const press = () => {
    guard = pressed(guard, performance.now());
    hands.change({});
  };
  const inert = isInert(hands);
  return h("ul.rows.questions", { on: { pointerdown: press, keydown: press } }, ...list.map((one) => question(hands, one, inert)));
}

/** Whether no yes can be pressed now; draws again when that is over. */
function isInert(hands: Hands): boolean {
  clearTimeout(due);
  const left = inertFor(guard, performance.now());
  if (left !== undefined && left > 0) due = setTimeout(() => hands.change({}), left);
  return left !== 0;
}

function question(hands: Hands, one: Approval, inert: boolean): VNode {
  const { id, tool, why, reason, private: names, fields, answers, state, since } = one;
  const whole = hands.state.approvals?.whole[id];
  const source = tool.slice(0, tool.indexOf("/"));
  const ordered = [...answers.filter((answer) => answer === "no"), ...answers.filter((answer) => answer !== "no")];
  return h(
    "li",
    { key: id, "data-question": id, tabindex: "-1", "aria-label": `Question about ${visible(tool).text}` },
    h("p.what", {}, oneLine(callerWords(one)), ` ${actWords(one)}`, h("span.name.mono", {}, oneLine(tool))),
    h("p", {}, `You are asked because ${why}.`, state === "missed" ? " Nobody answered in time: after a yes it runs when it is repeated." : ""),
    names.length === 0 ? undefined : reason === "files" ? h("p", {}, FILES_WORDS, foreign(names.join(", "))) : h("p", {}, LEAVES_WORDS[0], oneLine(source), LEAVES_WORDS[1], foreign(names.join(", "))),
    whole === undefined ? argumentsOf(hands, id, fields) : lines(whole, "All arguments", Infinity),
    h("p.soft", {}, h("time", { datetime: new Date(since).toISOString() }, timeWords(since))),
    h("div.buttons", {}, ...ordered.flatMap((answer) => [answerButton(hands, one, answer, inert), ...(answer === "no" && isHeard(one) ? [because(hands, id)] : [])])),
    isHeard(one) ? becauseField(hands, id, (reason) => say(hands, id, "no", reason), stir) : undefined,
    failure(hands, answering(id)),
  );
}

function argumentsOf(hands: Hands, id: string, fields: ApprovalField[]): VNode {
  if (fields.length === 0) return h("p.soft", {}, "Without arguments.");
  const all = () => button("Show all", () => showWhole(hands, id), { class: "quiet", "data-whole": id, busy: hands.isBusy(answering(id)) });
  const valueOf = (field: ApprovalField) => h("dd", {}, foreign(field.text), ...(isCut(field) ? [h("p.soft", {}, cutWords(field.bytes)), all()] : []));
  return h("dl.facts", {}, ...fields.map((field) => h("div", { key: field.key }, h("dt", {}, foreign(field.key)), valueOf(field))));
}

const answering = (id: string): string => `answer ${id}`;

function answerButton(hands: Hands, { id, who, reason }: Approval, answer: string, inert: boolean): Child {
  const [yes, no] = [ANSWER_WORDS[answer], NO_WORDS[answer]];
  const own = reason === "plan" ? PLAN_WORDS : who === "server" ? SERVER_WORDS : {};
  const words = own[answer] ?? yes ?? no;
  if (words === undefined) return undefined;
  const press = () => {
    if (yes === undefined || mayAllow(guard, performance.now())) say(hands, id, answer);
  };
  return button(words, press, { id: `${answer}-${id}`, key: answer, "data-answer": answer, busy: hands.isBusy(answering(id)) || (yes !== undefined && inert) });
}

const because = (hands: Hands, id: string): VNode => becauseButton(hands, id, hands.isBusy(answering(id)), stir);

function say(hands: Hands, id: string, answer: string, reason?: string): void {
  hands.act(answering(id), async () => {
    const { answered } = await hands.ask("approvals_answer", { approval_id: id, answer, ...(reason === undefined ? {} : { reason }) });
    hands.say(answered ? "Answered" : "This question is no longer open");
    loadQuestions(hands);
  });
}

function showWhole(hands: Hands, id: string): void {
  hands.act(answering(id), async () => {
    const { arguments: all } = await hands.ask("approvals_list", { approval_id: id });
    const { approvals } = hands.state;
    // What is below moves.
    stir();
    if (approvals !== undefined) hands.change({ approvals: { ...approvals, whole: { ...approvals.whole, [id]: JSON.stringify(all, null, 2) } } });
  });
}

function stands(hands: Hands, { id, covers, principal, session_id: session, what, private: names, until }: StandingAnswer): VNode {
  const whose = principal === "owner" ? `Your ${session === undefined ? "models" : `chat ${session.slice(0, 8)}`}` : callerWords({ who: kindOf(principal), principal });
  const back = covers === "never" ? "Ask again" : "Revoke";
  return h(
    "li.server",
    { key: id },
    h(
      "div",
      { class: "what" },
      h("p", {}, h("span.name.mono", {}, oneLine(what)), `: ${STANDING_WORDS[covers] ?? covers}`),
      h("p.soft", {}, oneLine(whose), ...(names.length === 0 ? [] : [" · from ", foreign(names.join(", "))]), until === undefined ? "" : ` · until ${timeWords(until)}`),
    ),
    button(back, () => revoke(hands, id), { id: `revoke-${id}`, class: "small", "aria-label": `${back}: ${what}`, busy: hands.isBusy(revoking(id)) }),
    failure(hands, revoking(id)),
  );
}

const kindOf = (principal: string): string => (principal.startsWith("client://") ? "client" : principal.startsWith("server:") ? "server" : "page");

const revoking = (id: string | undefined): string => `revoke answer ${id ?? "all"}`;

function revoke(hands: Hands, id: string | undefined): void {
  hands.act(revoking(id), async () => {
    const { revoked } = await hands.ask("approvals_revoke", id === undefined ? {} : { approval_id: id });
    hands.say(revoked === 0 ? "It was already revoked or over" : "Revoked");
    loadQuestions(hands);
  });
}
