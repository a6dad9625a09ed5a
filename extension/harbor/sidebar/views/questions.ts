// Questions about calls that wait for the person, wherever they were asked, and the answers that stand.
//
// Owns how they are listed and answered here. Must never offer an answer that the bridge does not.

import type { Approval, StandingAnswer } from "../../../shared/protocol/generated/messages.ts";
import { ANSWER_WORDS } from "../../consent/words.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, facts, failure, foreign, lines, oneLine, waiting } from "../parts.ts";
import { timeWords } from "../words.ts";

const READ = "questions";

const WHO: { [who: string]: string } = { chat: "Your model", run: "A model, on a task of", page: "The site", client: "The AI client" };

const STANDING_WORDS: { [covers: string]: string } = {
  once: "one call, when it is made again",
  chat_tool: "this tool, in one chat",
  chat_server: "what this server's tools write, in one chat",
  flow: "what may come from there, in one chat",
  pair: "what may come from there, on one connection",
  ten_minutes: "this tool, for 10 minutes",
  always: "this tool, always",
  never: "never asked about",
};

export const questions: View<{ at: "questions" }> = {
  title: () => "Questions",
  enter: (hands) => load(hands),
  heard: (hands, _, type) => {
    if (type === "approval") load(hands);
  },
  show: (hands) => [
    h("h2.unseen", { tabindex: "-1", id: "title" }, "Questions"),
    h("p.soft", {}, "Calls that wait for your yes, and what you have said yes to. What you revoke holds at once."),
    failure(hands, READ),
    ...shown(hands),
  ],
};

function load(hands: Hands): void {
  hands.read(READ, async (signal) => {
    const { waiting: open, standing } = await hands.ask("approvals_list", {}, { signal });
    hands.change({ approvals: { open, standing, whole: hands.state.approvals?.whole ?? {} } });
  });
}

function shown(hands: Hands): Child[] {
  const { approvals } = hands.state;
  if (approvals === undefined) return [waiting("Reading…")];
  const { open, standing } = approvals;
  return [
    open.length === 0 ? empty("Nothing waits for you.") : h("ul.rows.questions", {}, ...open.map((one) => question(hands, one))),
    h("h3", {}, "What stands"),
    standing.length === 0 ? empty("No answer stands: each call is asked about that has to be.") : h("ul.rows.standing", {}, ...standing.map((one) => stands(hands, one))),
    standing.length > 1 ? button("Revoke all", () => revoke(hands, undefined), { id: "revoke-all" }) : undefined,
  ];
}

function question(hands: Hands, one: Approval): VNode {
  const { id, who, principal, tool, why, private: names, fields, answers, state, since } = one;
  const whole = hands.state.approvals?.whole[id];
  const isCut = fields.some(({ bytes }) => bytes !== undefined);
  const whose = who === "chat" ? [] : [" ", oneLine(principal.replace("client://", ""))];
  return h(
    "li",
    { key: id },
    h("p.what", {}, WHO[who] ?? who, ...whose, " wants to call ", h("span.name.mono", {}, oneLine(tool))),
    h("p", {}, `You are asked because ${why}.`, state === "missed" ? " Nobody has answered in time: after a yes it runs when it is made again." : ""),
    names.length === 0 ? undefined : h("p", {}, "It would be told something that may come from: ", foreign(names.join(", "))),
    whole === undefined ? facts(fields.map(({ key, text }) => [key, foreign(text)] as const)) : lines(whole, "All arguments"),
    isCut && whole === undefined ? button("Show all arguments", () => showWhole(hands, id), { id: `whole-${id}` }) : undefined,
    h("p.soft", {}, h("time", { datetime: new Date(since).toISOString() }, timeWords(since))),
    h("div.buttons", {}, ...answers.map((answer) => answerButton(hands, id, answer))),
    failure(hands, `answer ${id}`),
  );
}

function answerButton(hands: Hands, id: string, answer: string): VNode {
  const words = answer === "no" ? "Don't allow" : answer === "never" ? "Never for this client" : (ANSWER_WORDS[answer] ?? answer);
  const say = () =>
    hands.act(`answer ${id}`, async () => {
      const { answered } = await hands.ask("approvals_answer", { approval_id: id, answer });
      hands.say(answered ? "Answered." : "This is not asked any more.");
      load(hands);
    });
  return button(words, say, { id: `${answer}-${id}`, busy: hands.isBusy(`answer ${id}`) });
}

function showWhole(hands: Hands, id: string): void {
  hands.act(`answer ${id}`, async () => {
    const { arguments: all } = await hands.ask("approvals_list", { approval_id: id });
    const { approvals } = hands.state;
    if (approvals !== undefined) hands.change({ approvals: { ...approvals, whole: { ...approvals.whole, [id]: JSON.stringify(all, null, 2) } } });
  });
}

function stands(hands: Hands, { id, covers, principal, what, private: names, until }: StandingAnswer): VNode {
  const whose = principal === "owner" ? "Your model" : principal.replace("client://", "");
  return h(
    "li",
    { key: id },
    h("p.what", {}, h("span.name.mono", {}, oneLine(what)), `: ${STANDING_WORDS[covers] ?? covers}`),
    h("p.soft", {}, oneLine(whose), ...(names.length === 0 ? [] : [" · from ", foreign(names.join(", "))]), until === undefined ? "" : ` · until ${timeWords(until)}`),
    button("Revoke", () => revoke(hands, id), { id: `revoke-${id}`, busy: hands.isBusy("revoke") }),
  );
}

function revoke(hands: Hands, approval_id: string | undefined): void {
  hands.act("revoke", async () => {
    const { revoked } = await hands.ask("approvals_revoke", approval_id === undefined ? {} : { approval_id });
    hands.say(revoked === 0 ? "It did not stand any more." : "Revoked.");
    load(hands);
  });
}
