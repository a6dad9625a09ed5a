// The form above the field for a prompt that takes arguments.
//
//   `/` ─► a prompt ─┬─ takes nothing ──────────────────────────────► its text is in the field
//                    └─ takes something ─► the form ─ Enter ─► asked ─┘
//
// Owns that form, and asks a server for a prompt's text. The text comes into the field, where the person sees it before it is sent. Must
// never send a message.

import { type Child, type VNode, h } from "../dom.ts";
import { focus } from "../focus.ts";
import type { Hands } from "../hands.ts";
import { button, failure, field, foreign, oneLine } from "../parts.ts";
import { put, typed } from "./field.ts";
import { type Prompt, type PromptArgument, argumentsOf, textOf } from "./prompts.ts";

const ACT = "prompt";

/** The person has chosen this prompt. */
export function choosePrompt(hands: Hands, prompt: Prompt): void {
  put("");
  if (prompt.takes.length === 0) return ask(hands, prompt, {});
  fill(hands, prompt, []);
  focus(`#${idOf(0)}`);
}

const idOf = (at: number): string => `prompt-${at}`;

function fill(hands: Hands, prompt: Prompt | undefined, missing: string[]): void {
  hands.change({ composing: { ...hands.state.composing, filling: prompt === undefined ? undefined : { prompt, missing } } });
}

function ask(hands: Hands, prompt: Prompt, args: { [name: string]: string }): void {
  const asked = { server_id: prompt.server, prompt_name: prompt.name, arguments: args };
  hands.act(
    ACT,
    async (signal) => {
      const text = textOf((await hands.ask("mcp_get_prompt", asked, { signal })).prompt);
      fill(hands, undefined, []);
      // What was typed meanwhile stays.
      put([typed(), text].filter((one) => one !== "").join("\n\n"));
    },
    hands.here,
  );
}

/** The form, where one is filled in, and what went wrong. */
export function promptForm(hands: Hands): Child[] {
  const { filling } = hands.state.composing;
  return [filling === undefined ? undefined : form(hands, filling.prompt, filling.missing), failure(hands, ACT)];
}

function form(hands: Hands, prompt: Prompt, lacks: string[]): VNode {
  const close = () => {
    hands.cancel(ACT);
    fill(hands, undefined, []);
    focus("#say-text");
  };
  const submit = (event: Event) => {
    event.preventDefault();
    const texts = prompt.takes.map((_, at) => (document.getElementById(idOf(at)) as HTMLInputElement).value);
    const { args, missing } = argumentsOf(prompt, texts);
    fill(hands, prompt, missing);
    if (missing.length === 0) ask(hands, prompt, args);
    else focus(".prompt [aria-invalid]");
  };
  const key = (event: Event) => {
    if ((event as KeyboardEvent).key === "Escape") close();
  };
  return h(
    "form.prompt",
    { key: `${prompt.server} ${prompt.name}`, novalidate: true, "aria-label": "What the prompt needs", on: { submit, keydown: key } },
    h("p", {}, h("span.mono", {}, "/", oneLine(`${prompt.server}.${prompt.name}`)), h("span.soft", {}, " ", foreign(prompt.words))),
    ...prompt.takes.map((one, at) => argument(one, at, lacks.includes(one.name))),
    h("p.buttons", {}, h("button", { type: "submit", "aria-disabled": hands.isBusy(ACT) ? "true" : undefined }, "Write it"), button("Cancel", close, { class: "quiet" })),
  );
}

function argument({ name, about, needed }: PromptArgument, at: number, isMissing: boolean): VNode {
  const problem = isMissing ? "The prompt needs this." : undefined;
  return field({ id: idOf(at), label: foreign(name), about: about === undefined ? undefined : foreign(about), needed, problem }, (props) => h("input", { ...props, autocomplete: "off" }));
}
