// The part of the options that says whose `LanguageModel` sites have.
//
// Owns that part of the page. Must never hold the list itself: the background keeps it.

import { CodedError } from "../../shared/protocol/codes.ts";
import { PREFERENCES } from "../../shared/protocol/page.ts";
import type { Preferred } from "../preferences.ts";
import { PREFERENCE_WORDS } from "./words.ts";

type Ask = (type: string, payload: { [name: string]: unknown }) => Promise<unknown>;

const part = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

/** Shows what there is, and has it changed by the form and by the buttons. */
export function showPreferences(ask: Ask): void {
  const origin = part<HTMLInputElement>("prefer-origin");
  const what = part<HTMLSelectElement>("prefer-what");
  const words = (["missing", ...PREFERENCES] as const).map((one) => Object.assign(document.createElement("option"), { value: one, textContent: PREFERENCE_WORDS[one] }));
  what.replaceChildren(...words);
  const change = async (type: string, payload: { [name: string]: unknown }): Promise<void> => {
    try {
      show((await ask(type, payload)) as Preferred[], (one) => void change("prefer", { origin: one, preference: "missing" }));
      part("prefer-said").textContent = "";
    } catch (error) {
      part("prefer-said").textContent = error instanceof CodedError ? error.message : "This did not work.";
    }
  };
  part("prefer").addEventListener("submit", (event) => {
    event.preventDefault();
    void change("prefer", { origin: origin.value.trim().replace(/\/$/, ""), preference: what.value });
  });
  void change("preferences", {});
}

function show(all: Preferred[], forget: (origin: string) => void): void {
  const lines = all.map(({ origin, preference }) => {
    const text = Object.assign(document.createElement("span"), { textContent: `${origin}: ${PREFERENCE_WORDS[preference]}` });
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: "Remove", ariaLabel: `Remove ${origin}` });
    button.addEventListener("click", () => forget(origin));
    const line = document.createElement("li");
    line.append(text, button);
    return line;
  });
  part("preferences").replaceChildren(...lines);
}
