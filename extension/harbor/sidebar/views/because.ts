// A no with its reason: what the person tells the model together with it.
//
// Owns the field that opens below a question. A plain no stays one click. Must never be there where no model hears it.

import type { Approval } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type VNode, h } from "../dom.ts";
import { focus } from "../focus.ts";
import type { Hands } from "../hands.ts";
import { button } from "../parts.ts";

/** The question whose field is open. */
let open: string | undefined;

const fieldOf = (id: string): string => `why-not-${id}`;
const buttonOf = (id: string): string => `because-${id}`;

/** True if a model in a chat or a run makes the call, so that it can be told why. A page or an AI app is told only that the answer is no. */
export const isHeard = ({ who, answers }: Pick<Approval, "who" | "answers">): boolean => answers.includes("no") && (who === "chat" || who === "run");

/** Opens the field, and closes it. `moved`: what is below is at another place now. */
export function becauseButton(hands: Hands, id: string, busy: boolean, moved: () => void): VNode {
  const flip = () => (open === id ? close(hands, id, moved) : show(hands, id, moved));
  return button("No, because…", flip, { id: buttonOf(id), key: "because", "data-because": id, "aria-expanded": String(open === id), busy });
}

/** The field, where it is open. Enter sends, Escape closes. */
export function becauseField(hands: Hands, id: string, refuse: (reason: string | undefined) => void, moved: () => void): Child {
  if (open !== id) return undefined;
  const submit = (event: Event) => {
    event.preventDefault();
    const typed = (document.getElementById(fieldOf(id)) as HTMLInputElement).value.trim();
    refuse(typed === "" ? undefined : typed);
  };
  const key = (event: Event) => {
    if ((event as KeyboardEvent).key === "Escape") close(hands, id, moved);
  };
  return h(
    "form.inline.because",
    { key: "because", on: { submit, keydown: key } },
    h("label.unseen", { for: fieldOf(id) }, "Why not; the model reads this"),
    h("input", { id: fieldOf(id), maxlength: 1_000, autocomplete: "off", placeholder: "What the model should know" }),
    h("button", { type: "submit" }, "Send"),
  );
}

function show(hands: Hands, id: string, moved: () => void): void {
  open = id;
  moved();
  hands.change({});
  focus(`#${CSS.escape(fieldOf(id))}`);
}

function close(hands: Hands, id: string, moved: () => void): void {
  open = undefined;
  moved();
  hands.change({});
  focus(`#${CSS.escape(buttonOf(id))}`);
}
