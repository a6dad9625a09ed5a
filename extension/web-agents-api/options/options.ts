// The page of the options: whether Harbor is there, and the switches.
//
// Owns the page. Must never hold a switch itself: the background writes and enforces them.

import { browserName, connectOwn } from "../../shared/browser/api.ts";
import { Caller } from "../../shared/ports/caller.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { visible } from "../../shared/text/visible.ts";
import { FLAG_NAMES, type Flags } from "../flags.ts";
import { OWN_PORT } from "./handler.ts";
import { showPreferences } from "./preferring.ts";
import { FLAG_WORDS, type HarborView, piecesOf, saidOf } from "./words.ts";

const part = (id: string) => document.getElementById(id) as HTMLElement;

const background = new Caller(
  () => connectOwn(OWN_PORT),
  () => new CodedError("ERR_INTERNAL", "The extension's background has ended. Try again."),
  (type, payload) => {
    if (type === "harbor") showHarbor(payload as unknown as HarborView);
  },
);

function showHarbor(harbor: HarborView): void {
  const { tone, text } = saidOf(harbor, browserName);
  part("harbor").dataset["tone"] = tone;
  const { text: short, whole = short } = visible(text);
  const code = (words: string) => Object.assign(document.createElement("code"), { textContent: words });
  part("harbor").replaceChildren(...piecesOf(whole).map((piece) => (piece.code ? code(piece.text) : piece.text)));
}

function flagPart(name: keyof Flags): HTMLElement {
  const found = document.createElement("div");
  found.className = "flag";
  const box = Object.assign(document.createElement("input"), { type: "checkbox", id: name, disabled: true });
  box.setAttribute("role", "switch");
  box.setAttribute("aria-describedby", `${name}-text`);
  box.addEventListener("change", () => void ask("switch", { flag: name, on: box.checked }));
  const label = Object.assign(document.createElement("label"), { htmlFor: name, textContent: FLAG_WORDS[name].head });
  const text = Object.assign(document.createElement("p"), { id: `${name}-text`, textContent: FLAG_WORDS[name].text });
  found.append(box, label, text);
  return found;
}

function showFlags(flags: Flags): void {
  for (const name of FLAG_NAMES) {
    const box = part(name) as HTMLInputElement;
    box.checked = flags[name];
    box.disabled = false;
  }
}

async function ask(type: string, payload: { [name: string]: unknown }): Promise<void> {
  try {
    showFlags((await background.call(type, payload)) as Flags);
    part("said").textContent = "";
  } catch (error) {
    part("said").textContent = error instanceof CodedError ? error.message : "This did not work.";
  }
}

part("flags").append(...FLAG_NAMES.map(flagPart));
// Whoever comes back has perhaps just installed Harbor.
window.addEventListener("focus", () => void ask("look", {}));
void ask("look", {});
showPreferences((type, payload) => background.call(type, payload));
