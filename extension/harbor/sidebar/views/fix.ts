// What keeps a server from working, and the way out of that, in one place: a key to type, a sign-in, a change to look at.
//
// Owns the order: the cause in Harbor's words, then what helps, then the raw texts, folded. Must never keep a secret's value.

import type { Exit, Server } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { command, failure, field, foreign, lines, notice, prose, told } from "../parts.ts";
import { hrefOf } from "../route.ts";
import { wordsOfEnd } from "../whose.ts";
import { afterEnd, missingProgram, missingWords, standingOf, timeWords } from "../words.ts";
import { saveSecrets, signInOf } from "./secrets.ts";
import { run } from "./servers.ts";

export function fixOf(hands: Hands, server: Server): Child[] {
  return [wish(hands, server), lastEnd(hands, server), cannotStart(hands, server)];
}

/** What it wants of the person. */
function wish(hands: Hands, server: Server): Child {
  const missing = hands.state.missing[server.server_id] ?? [];
  const { wants, words } = standingOf(server, missing);
  if (wants === undefined) return undefined;
  if (wants === "tools") {
    return notice("warn", h("p", {}, foreign(words)), h("a.action", { href: hrefOf({ at: "server", id: server.server_id, part: wants }) }, server.changed_tools === undefined ? "See its tools" : "Review the change"));
  }
  if (missing.length > 0) return notice("warn", h("p", {}, foreign(words), ` to start it. ${missing.length === 1 ? "Its value is" : "Their values are"} never shown again.`), keyForm(hands, server, missing));
  return notice("warn", h("p", {}, `${words}.`), ...signInOf(hands, server));
}

/** All that is missing, with one button: what is set lets it start. */
function keyForm(hands: Hands, server: Server, missing: string[]): VNode {
  const act = `set ${server.server_id}`;
  const submit = (event: Event) => {
    event.preventDefault();
    const { elements } = event.currentTarget as HTMLFormElement;
    const given = missing.map((key) => {
      const input = elements.namedItem(`key ${key}`) as HTMLInputElement;
      const { value } = input;
      input.value = "";
      return [key, value] as const;
    });
    saveSecrets(hands, server, act, given.filter(([, value]) => value !== ""), () => run(hands, server.server_id, "start"));
  };
  const input = (key: string) =>
    field({ id: `key ${key}`, label: h("span.mono", {}, key) }, (props) => h("input", { type: "password", name: `key ${key}`, autocomplete: "off", ...props }));
  const save = h("button.primary", { type: "submit", id: "save-keys", "aria-disabled": hands.isBusy(act) ? "true" : undefined }, "Save and start");
  return h("form.keys", { on: { submit } }, ...missing.map((key) => h("div", { key }, input(key))), h("p.buttons", {}, save), failure(hands, act));
}

function lastEnd(hands: Hands, server: Server): Child {
  const { server_id: id, last_exit: end, state, next_retry } = server;
  if (end === undefined || end.cause === "stopped" || state === "starting") return undefined;
  const over = state === "running" || state === "stopped";
  // What it wants says why, too; and what it has got since.
  const missing = hands.state.missing[id];
  if (!over && (standingOf(server, missing).wants !== undefined || (end.cause === "missing_secrets" && missing?.length === 0))) return undefined;
  return notice(
    over ? "idle" : "bad",
    h("h3", {}, over ? `Last failure, ${timeWords(end.timestamp)}` : "Why it is not running"),
    ...whyEnded(hands, id, end, over),
    next_retry === undefined || state !== "crashed" ? undefined : h("p", {}, `Next try at ${timeWords(next_retry)}.`),
    end.stderr_tail === undefined || end.stderr_tail === ""
      ? undefined
      : h("details", { key: "tail" }, h("summary", {}, "Last output"), lines(end.stderr_tail, "Last output")),
  );
}

/** `over`: it is past, and nothing is to be done. */
function whyEnded(hands: Hands, id: string, end: Exit, over: boolean): Child[] {
  const [words, program] = [wordsOfEnd(end), missingProgram(end)];
  const details = h("details", { key: "details" }, h("summary", {}, "Details"), h("p", {}, ...told(words)));
  if (program !== undefined) {
    return [
      h("p", {}, h("strong", {}, "The program ", foreign(program), ` ${missingWords(program)}.`)),
      ...(over ? [] : [h("p", {}, "Install it, then try again. Or change the server's command, in a terminal:"), command(`harbor edit ${id}`, hands)]),
      details,
    ];
  }
  const advice = prose(afterEnd(end, id));
  if (words.whose === "harbor") return [h("p", {}, h("strong", {}, ...told(words))), over ? undefined : h("p", {}, ...advice)];
  // A server may have had a part in the message: Harbor's words come first.
  return [h("p", {}, ...advice), details];
}

/** What is known to keep it from its next start, where its last end does not say that. */
function cannotStart(hands: Hands, server: Server): Child {
  const { state, last_exit, server_id: id } = server;
  const { whyNot } = hands.state.detail ?? {};
  const said = whyNot === last_exit?.message || standingOf(server, hands.state.missing[id]).wants !== undefined;
  if (whyNot === undefined || said || (state !== "stopped" && state !== "failed")) return undefined;
  return notice("warn", h("h3", {}, "Why it cannot start"), h("p", {}, ...told({ whose: "mixed", text: whyNot })));
}
