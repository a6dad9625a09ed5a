// Pieces that several views are made of.
//
// Owns how foreign text, failures, commands and fields look. Foreign text comes in by `foreign` and `lines` alone.

import type { Failure } from "../../shared/protocol/codes.ts";
import { SHOWN, visible, visibleLines } from "../../shared/text/visible.ts";
import { type Child, type Props, type VNode, h } from "./dom.ts";
import type { Hands } from "./hands.ts";
import { type Words, wordsOf } from "./whose.ts";
import { type Tone, codeWords, saysItAll, tailOf } from "./words.ts";

/** Text of somebody else, cut, with a button for the rest. */
export function foreign(text: string): VNode {
  const { text: shown, whole } = visible(text);
  if (whole === undefined) return h("bdi.foreign", { dir: "auto" }, shown);
  return h(
    "span",
    { key: text },
    h("bdi.foreign", { dir: "auto" }, shown),
    h("button.more", { type: "button", "aria-expanded": "false", on: { click: toggle } }, "more"),
  );

  function toggle({ currentTarget }: Event): void {
    const button = currentTarget as HTMLElement;
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    (button.firstChild as Text).data = open ? "more" : "less";
    (button.previousElementSibling?.firstChild as Text).data = open ? shown : (whole ?? shown);
  }
}

/** Text of somebody else in one line, cut by the page where it does not fit. */
export function oneLine(text: string): VNode {
  return h("bdi.foreign", { dir: "auto" }, visible(text).text);
}

/** Text of somebody else with its lines, in the letters of programs. `most`: so many characters of it. */
export function lines(text: string, label: string, most?: number): VNode {
  return h("pre.text", { tabindex: "0", role: "region", "aria-label": label, dir: "auto" }, visibleLines(text, most));
}

/** A text of ours: what stands in backquotes is a command. */
export function prose(text: string): Child[] {
  return text.split("`").map((part, at) => (at % 2 === 0 ? part : h("code", {}, visible(part).text)));
}

/** A sentence that is wholly Harbor's own: its commands are commands. What is long is cut like any other text. Others go through `told`. */
export function sentence(text: string): Child {
  if (text.length > SHOWN) return foreign(text);
  const parts = text.split("`").map((part) => visible(part).text);
  return h("bdi", { dir: "auto" }, ...parts.map((part, at) => (at % 2 === 0 ? part : h("code", {}, part))));
}

/** A text of the bridge with whose words it has. Only in Harbor's own are there commands to run. */
export function told({ whose, text }: Words): Child[] {
  if (whose === "harbor") return [sentence(text)];
  if (whose === "server") return ["The server says: ", foreign(text)];
  return whose === "mixed" ? ["Details, possibly in the server's words: ", foreign(text)] : [foreign(text)];
}

export function button(label: string, click: () => void, props: Props & { busy?: boolean } = {}): VNode {
  const { busy, ...rest } = props;
  const on = { click: () => busy !== true && click() };
  return h("button", { type: "button", ...rest, "aria-disabled": busy ? "true" : undefined, on }, label);
}

export function notice(tone: Tone, ...children: Child[]): VNode {
  return h("div.notice", { "data-tone": tone }, ...children);
}

/** What went wrong with something that the person has begun. */
export function failure(hands: Hands, name: string): VNode {
  const act = hands.state.acts[name];
  // The place for it is always there, so that it is read out when it comes.
  return h("div", { role: "alert" }, act === undefined || act === "busy" ? undefined : failureNotice(act));
}

export function failureNotice(failed: Failure): VNode {
  const [words, ours, tail] = [wordsOf(failed), codeWords(failed), tailOf(failed)];
  const said = saysItAll(failed) ? undefined : h("p", { key: "said" }, ...told(words));
  const advice = ours === undefined ? undefined : h("p", { key: "advice" }, ...prose(ours));
  // Ours comes first where what follows may be a server's.
  const first = words.whose === "server" || words.whose === "mixed" ? [advice, said] : [said, advice];
  // The code is for programs, tests among them.
  return h(
    "div.notice",
    { "data-tone": "bad", "data-code": visible(failed.code).text },
    ...first,
    tail === undefined ? undefined : h("details", { key: "tail", open: true }, h("summary", {}, "Last output"), lines(tail, "Last output")),
  );
}

/** A command, with a button that copies it. */
export function command(text: string, hands: Hands): VNode {
  return h("div.command", {}, h("code", { tabindex: "0" }, text), copyButton(() => text, `Copy ${text}`, hands));
}

export function copyButton(text: () => string, label: string, hands: Pick<Hands, "say">): VNode {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      hands.say("Copied");
    } catch {
      hands.say("The browser blocked copying. Select the text instead.");
    }
  };
  return button("Copy", () => void copy(), { class: "quiet", "aria-label": label });
}

/** Terms with what is said of them. */
export function facts(rows: (readonly [string, Child] | undefined)[]): VNode {
  const shown = rows.filter((row) => row !== undefined);
  return h("dl.facts", {}, ...shown.map(([term, said]) => h("div", { key: term }, h("dt", {}, term), h("dd", {}, said))));
}

export interface FieldProps {
  id: string;
  label: Child;
  about?: Child;
  needed?: boolean;
  problem?: string | undefined;
}

/** A control with its label, what is said of it, and what is wrong with it. */
export function field({ id, label, about, needed = false, problem }: FieldProps, control: (props: Props) => VNode): VNode {
  const described = [about === undefined ? "" : `${id}-about`, problem === undefined ? "" : `${id}-problem`].join(" ").trim();
  const props: Props = { id, "aria-describedby": described || undefined, "aria-invalid": problem === undefined ? undefined : "true" };
  return h(
    "div.field",
    {},
    h("label", { for: id }, label, needed ? h("span.needed", {}, " required") : undefined),
    about === undefined ? undefined : h("p.about", { id: `${id}-about` }, about),
    control({ ...props, "aria-required": needed ? "true" : undefined }),
    h("p.problem", { id: `${id}-problem`, hidden: problem === undefined }, problem ?? ""),
  );
}

export function empty(...children: Child[]): VNode {
  return h("p.empty", {}, ...children);
}

/** A place that waits: it takes no more room than what comes. */
export function waiting(words: string): VNode {
  return h("p.empty", {}, words);
}
