// The page of a question: shows it, and says what the person answers.
//
// Owns its buttons. Must never send an answer that no click or key of the person has made.

import { connectOwn } from "../../shared/browser/api.ts";
import { askForPages, askForSite } from "../../shared/browser/tabs.ts";
import { Caller } from "../../shared/ports/caller.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Decision } from "../grants.ts";
import { OWN_PORT, type QuestionView } from "../own.ts";
import { type Guard, type Stir, inertFor, mayAllow, pressed, stirred } from "./inert.ts";
import { chosen, hasYes, part, show, showWhole } from "./view.ts";
import { NOTHING_CHOSEN } from "./words.ts";

/** How often it is looked whether the focus has come back. */
const LOOK_MS = 250;

const id = Number(new URLSearchParams(location.search).get("question"));
const background = new Caller(
  () => connectOwn(OWN_PORT),
  () => {
    const error = new CodedError("ERR_INTERNAL", "Harbor has ended meanwhile: close this window, and let the site ask again");
    over(error);
    return error;
  },
  (type, payload) => {
    if (type === "question") put(payload as unknown as QuestionView, "changed");
  },
);

const deny = part<HTMLButtonElement>("deny");
const allow = ["once", "while", "always"].map((name) => part<HTMLButtonElement>(name));
let asked: QuestionView | undefined;
let shown = false;
let answered = false;
/** The question has ended without an answer from here: nothing is left but to close the window. */
let ended = false;
let guard: Guard = { since: undefined };
let timer: ReturnType<typeof setTimeout> | undefined;

function stir(what: Stir): void {
  guard = stirred(what, performance.now(), guard);
  refresh();
}

/** Before anything else hears of it, and wherever it happens: CSS has presses of a button that is inert land beside it. */
function press({ isTrusted }: Event): void {
  if (!isTrusted) return;
  guard = pressed(guard, performance.now());
  refresh();
}

/** Until a key is used, the button that begins with the focus has a mild ring: a strong one looks like an answer that is chosen. */
function keys(): void {
  document.body.dataset["keys"] = "";
}

/** Brings the buttons into the state that the guard says, now and when it is over. */
function refresh(): void {
  clearTimeout(timer);
  const left = inertFor(guard, performance.now());
  const none = shown && !answered && document.querySelector("input[data-tool]") !== null && !hasYes();
  if (!answered) part("said").textContent = none ? NOTHING_CHOSEN : "";
  const live = left === 0 && shown && !answered && hasYes();
  for (const button of allow) button.disabled = !live;
  if (left === undefined && !answered) timer = setTimeout(look, LOOK_MS);
  else if (left !== undefined && left > 0) timer = setTimeout(refresh, left);
}

/** Not every focus is told: of a window that comes back Chromium may tell before it shows it again, when it has none yet for its page. */
function look(): void {
  stir(document.hasFocus() ? "focused" : "left");
}

function over(error: unknown): void {
  ended = true;
  answered = true;
  part("said").textContent = error instanceof CodedError ? error.message : "This did not work.";
  deny.textContent = "Close";
  deny.disabled = false;
  refresh();
}

/** Shows it, or what it has become. */
function put(question: QuestionView, what: Stir): void {
  if (ended) return;
  asked = question;
  show(question);
  shown = true;
  stir(document.hasFocus() ? what : "left");
}

/** What the browser lacks is asked of it, in the very click: the person's no there leaves what they have allowed without effect, and is no other answer. */
function askBrowser(): Promise<unknown> {
  if (asked?.lack === undefined) return Promise.resolve();
  return (asked.lack === "site" ? askForSite(asked.origin) : askForPages()).catch(() => false);
}

async function answer(decision: Decision): Promise<void> {
  if (ended) window.close();
  if (answered) return;
  answered = true;
  deny.disabled = true;
  refresh();
  try {
    if (decision.allow !== "no") await askBrowser();
    await background.call("answer", { id, decision });
    window.close();
  } catch {
    if (!ended) await again();
  }
}

/** The answer was not taken: where the question has become another one meanwhile, the person looks at it again. */
async function again(): Promise<void> {
  try {
    put((await background.call("question", { id })) as QuestionView, "changed");
    answered = false;
    deny.disabled = false;
    refresh();
  } catch (error) {
    over(error);
  }
}

/** Has all arguments of the call shown. */
async function openWhole(): Promise<void> {
  try {
    const { arguments: all } = (await background.call("whole", { id })) as { arguments: unknown };
    showWhole(JSON.stringify(all, null, 2));
  } catch (error) {
    part("said").textContent = error instanceof CodedError ? error.message : "They cannot be shown.";
  }
}

deny.addEventListener("click", () => {
  const remember = part<HTMLInputElement>("remember").checked;
  void answer({ allow: "no", remember, answer: remember ? "never" : "no" });
});
for (const button of allow) {
  button.addEventListener("click", ({ isTrusted }) => {
    const live = isTrusted && mayAllow(guard, performance.now());
    const said = button.dataset["answer"];
    if (live) void answer({ allow: button.id === "once" ? "once" : "always", tools: chosen(), ...(said === undefined ? {} : { answer: said }) });
  });
}
part("question").addEventListener("click", ({ target }) => {
  if ((target as HTMLElement).closest("button[data-whole]") !== null) void openWhole();
});
window.addEventListener("keydown", ({ key }) => {
  if (key === "Escape") void answer({ allow: "no", remember: false, dismissed: true });
});
// A screen reader may click without a pointer.
for (const kind of ["pointerdown", "mousedown", "keydown"]) window.addEventListener(kind, press, { capture: true });
window.addEventListener("keydown", keys, { capture: true });
window.addEventListener("focus", () => stir("focused"));
window.addEventListener("blur", () => stir("left"));
window.addEventListener("resize", () => stir(document.hasFocus() ? "changed" : "left"));
document.addEventListener("visibilitychange", look);
part("question").addEventListener("change", () => stir("changed"));

try {
  put((await background.call("question", { id })) as QuestionView, "opened");
  deny.focus();
} catch (error) {
  over(error);
}
