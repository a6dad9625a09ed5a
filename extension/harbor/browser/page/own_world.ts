// What runs in the page's own world, in tabs of a session, before its scripts: dialogs that would stop the tab are answered at
// once, what is written to the console is kept, what an action begins is counted, and bodies of requests are kept where the person said
// so. It may come before it is known whose the tab
// is: where a person looks, dialogs are theirs until then, and in a tab of theirs it takes itself away.
//
//   begins ─► a session's: stays
//          ─► a person's, or nobody says: everything is put back
//
// Owns the two lists. They are in the page's hands: whoever reads them treats them as text of the page.

import { KEPT } from "./commands.ts";
import { Bodies, type Body } from "./own_bodies.ts";
import { Effects, type Instead } from "./own_effects.ts";

interface Kept {
  /** `planned`: its answer was decided before. */
  dialogs: { kind: string; message: string; answer: string; planned: boolean }[];
  console: { level: string; text: string; at: number }[];
  /** How the next question is answered; once. */
  next: { accept: boolean; text?: string } | undefined;
  /** What its scripts ask of servers, where that is kept. */
  bodies: Body[];
  keepsBodies: boolean;
  /** True once the tab is known to be a session's. */
  isOurs: boolean;
  /** Puts everything back as the page would have it. */
  undo(): void;
  /** A value as JSON, by functions of before the page's scripts; fails where it is longer than so many characters. */
  written(value: unknown, most: number): string;
}

/** How long it stays where nobody says whose the tab is, in milliseconds. */
const UNKNOWN_MS = 5_000;

const MOST = 500;
const LONGEST = 2_000;

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

class OwnWorld {
  readonly #bodies = new Bodies(() => (this.#isOver || (this.#kept.isOurs && !this.#kept.keepsBodies) ? "no" : this.#kept.keepsBodies ? "yes" : "unknown"));
  readonly #kept: Kept = { dialogs: [], console: [], next: undefined, bodies: this.#bodies.list, keepsBodies: false, isOurs: false, undo: () => this.#undo(), written };
  readonly #effects = new Effects();
  readonly #undoing: (() => void)[] = [];
  #isOver = false;

  begin(): void {
    Object.defineProperty(window, KEPT, { value: this.#kept, enumerable: false, configurable: true });
    setTimeout(() => {
      if (!this.#kept.isOurs) this.#undo();
    }, UNKNOWN_MS);
    this.#undoing.push(this.#effects.begin(this.#instead));
    this.#bodies.begin(this.#instead);
    this.#answerDialogs();
    this.#watchWindows();
    this.#watchSaving();
    this.#keepConsole();
    this.#keepErrors();
  }

  #undo(): void {
    this.#isOver = true;
    // What was put in the place of something twice goes back step by step.
    for (const back of this.#undoing.splice(0).reverse()) back();
    this.#bodies.list.length = 0;
    delete (window as unknown as { [KEPT]?: Kept })[KEPT];
  }

  readonly #instead: Instead = (owner, name, made) => {
    const before = owner[name];
    owner[name] = made;
    this.#undoing.push(() => {
      // The page may have put its own there.
      if (owner[name] === made) owner[name] = before;
    });
  };

  #keep<T>(list: T[], entry: T): void {
    if (this.#isOver) return;
    list.push(entry);
    if (list.length > MOST) list.shift();
  }

  #dialog<T>(kind: string, message: unknown, answer: (how: Kept["next"]) => { value: T; said: string }): T {
    const how = this.#kept.next;
    if (kind !== "alert") this.#kept.next = undefined;
    const { value, said } = answer(how);
    this.#keep(this.#kept.dialogs, { kind, message: cut(String(message ?? "")), answer: said, planned: kind !== "alert" && how !== undefined });
    return value;
  }

  /** True while the person may be looking, and it may be their tab. */
  #isTheirs(): boolean {
    return this.#isOver || (!this.#kept.isOurs && document.visibilityState === "visible");
  }

  #answerDialogs(): void {
    const { alert, confirm, prompt, print } = window;
    const said = (how: Kept["next"]) => (how?.accept ? "accepted" : "dismissed");
    this.#instead(window, "alert", (message?: unknown) => {
      if (this.#isTheirs()) return alert.call(window, message);
      return this.#dialog("alert", message, () => ({ value: undefined, said: "closed" }));
    });
    this.#instead(window, "confirm", (message?: unknown) => {
      if (this.#isTheirs()) return confirm.call(window, message as string);
      return this.#dialog("confirm", message, (how) => ({ value: how?.accept ?? false, said: said(how) }));
    });
    this.#instead(window, "prompt", (message?: unknown, preset?: unknown) => {
      if (this.#isTheirs()) return prompt.call(window, message as string, preset as string);
      return this.#dialog("prompt", message, (how) => ({ value: how?.accept ? (how.text ?? String(preset ?? "")) : null, said: said(how) }));
    });
    this.#instead(window, "print", () => {
      if (this.#isTheirs()) return print.call(window);
      return this.#dialog("print", "", () => ({ value: undefined, said: "not printed" }));
    });
  }

  /** Pages save what they have made by a link that is nowhere in them. */
  #watchSaving(): void {
    const { click } = HTMLElement.prototype;
    const opened = () => this.#effects.opened();
    this.#instead(HTMLElement.prototype, "click", function (this: HTMLElement) {
      if (this instanceof HTMLAnchorElement && this.hasAttribute("download")) opened();
      click.call(this);
    });
  }

  #watchWindows(): void {
    const { open } = window;
    this.#instead(window, "open", (...how: Parameters<typeof open>) => {
      const opened = open.apply(window, how);
      if (opened !== null) this.#effects.opened();
      else this.#keep(this.#kept.dialogs, { kind: "popup", message: cut(String(how[0] ?? "")), answer: "stopped by the browser", planned: false });
      return opened;
    });
  }

  #written(level: string, text: string): void {
    this.#keep(this.#kept.console, { level, text: cut(text), at: Date.now() });
  }

  #keepConsole(): void {
    for (const level of ["log", "info", "warn", "error", "debug"] as const) {
      const original = console[level];
      this.#instead(console, level, (...values: unknown[]) => {
        if (!this.#isOver) this.#written(level, values.map(shown).join(" "));
        original.apply(console, values);
      });
    }
  }

  #keepErrors(): void {
    const failed = ({ message, filename, lineno }: ErrorEvent) => this.#written("error", `${message} (${filename}:${lineno})`);
    const rejected = ({ reason }: PromiseRejectionEvent) => this.#written("error", `unhandled rejection: ${shown(reason)}`);
    window.addEventListener("error", failed);
    window.addEventListener("unhandledrejection", rejected);
    this.#undoing.push(() => {
      window.removeEventListener("error", failed);
      window.removeEventListener("unhandledrejection", rejected);
    });
  }
}

const { stringify } = JSON;
const [ErrorOf, textOf] = [Error, String];

function written(value: unknown, most: number): string {
  if (value instanceof ErrorOf) return cut(`${value.name}: ${value.message}`);
  let length = 0;
  const count = (key: string, part: unknown): unknown => {
    length += key.length + (typeof part === "string" ? part.length : 4);
    if (length > most) throw new ErrorOf(`the value is longer than ${most} characters as JSON: return less`);
    return typeof part === "bigint" || typeof part === "symbol" || typeof part === "function" ? textOf(part) : part;
  };
  const text = stringify(value, count) ?? "undefined";
  if (text.length > most) throw new ErrorOf(`the value is longer than ${most} characters as JSON: return less`);
  return text;
}

function shown(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    return String(value);
  }
}

if (!(KEPT in window)) new OwnWorld().begin();
