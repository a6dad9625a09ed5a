// What runs in the page's own world, in tabs of a session, before its scripts: dialogs that would stop the tab are answered at
// once, and what is written to the console is kept. It may come before it is known whose the tab is: where a person looks, dialogs
// are theirs until then, and in a tab of theirs it takes itself away.
//
// Owns the two lists. They are in the page's hands: whoever reads them treats them as text of the page.

import { KEPT } from "./commands.ts";

interface Kept {
  dialogs: { kind: string; message: string; answer: string }[];
  console: { level: string; text: string; at: number }[];
  /** How the next question is answered; once. */
  next: { accept: boolean; text?: string } | undefined;
  /** True once the tab is known to be a session's. */
  isOurs: boolean;
  /** Puts everything back as the page would have it. */
  undo(): void;
}

/** How long it stays where nobody says whose the tab is, in milliseconds. */
const UNKNOWN_MS = 5_000;

const MOST = 500;
const LONGEST = 2_000;

(() => {
  const place = window as unknown as { [KEPT]?: Kept };
  if (place[KEPT] !== undefined) return;
  const kept: Kept = { dialogs: [], console: [], next: undefined, isOurs: false, undo };
  Object.defineProperty(place, KEPT, { value: kept, enumerable: false, configurable: true });
  const undoing: (() => void)[] = [];
  let isOver = false;
  function undo(): void {
    isOver = true;
    for (const back of undoing.splice(0)) back();
    delete place[KEPT];
  }
  /** Puts a function in the place of another one. */
  const instead = <N extends string, T extends { [name in N]: unknown }>(owner: T, name: N, made: T[N]) => {
    const before = owner[name];
    owner[name] = made;
    undoing.push(() => {
      // The page may have put its own there.
      if (owner[name] === made) owner[name] = before;
    });
  };
  setTimeout(() => {
    if (!kept.isOurs) undo();
  }, UNKNOWN_MS);
  const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  const keep = <T>(list: T[], entry: T) => {
    if (isOver) return;
    list.push(entry);
    if (list.length > MOST) list.shift();
  };
  const dialog = (kind: string, message: unknown, answer: (how: Kept["next"]) => { value: unknown; said: string }) => {
    const how = kept.next;
    if (kind !== "alert") kept.next = undefined;
    const { value, said } = answer(how);
    keep(kept.dialogs, { kind, message: cut(String(message ?? "")), answer: said });
    return value;
  };
  const { alert, confirm, prompt, print } = window;
  /** The person may be looking, and it may be their tab. */
  const isTheirs = () => isOver || (!kept.isOurs && document.visibilityState === "visible");
  instead(window, "alert", (message?: unknown) => (isTheirs() ? alert.call(window, message) : void dialog("alert", message, () => ({ value: undefined, said: "closed" }))));
  instead(window, "confirm", (message?: unknown) => {
    if (isTheirs()) return confirm.call(window, message as string);
    return dialog("confirm", message, (how) => ({ value: how?.accept ?? false, said: how?.accept ? "accepted" : "dismissed" })) as boolean;
  });
  instead(window, "prompt", (message?: unknown, preset?: unknown) => {
    if (isTheirs()) return prompt.call(window, message as string, preset as string);
    return dialog("prompt", message, (how) => ({ value: how?.accept ? (how.text ?? String(preset ?? "")) : null, said: how?.accept ? "accepted" : "dismissed" })) as string | null;
  });
  instead(window, "print", () => (isTheirs() ? print.call(window) : void dialog("print", "", () => ({ value: undefined, said: "not printed" }))));
  const open = window.open;
  instead(window, "open", (...how: Parameters<typeof open>) => {
    const opened = open.apply(window, how);
    if (opened === null) keep(kept.dialogs, { kind: "popup", message: cut(String(how[0] ?? "")), answer: "stopped by the browser" });
    return opened;
  });
  const shown = (value: unknown) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    try {
      return JSON.stringify(value) ?? String(value);
    } catch {
      return String(value);
    }
  };
  for (const level of ["log", "info", "warn", "error", "debug"] as const) {
    const original = console[level];
    instead(console, level, (...values: unknown[]) => {
      if (!isOver) keep(kept.console, { level, text: cut(values.map(shown).join(" ")), at: Date.now() });
      original.apply(console, values);
    });
  }
  const failed = ({ message, filename, lineno }: ErrorEvent) => keep(kept.console, { level: "error", text: cut(`${message} (${filename}:${lineno})`), at: Date.now() });
  const rejected = ({ reason }: PromiseRejectionEvent) => keep(kept.console, { level: "error", text: cut(`unhandled rejection: ${shown(reason)}`), at: Date.now() });
  window.addEventListener("error", failed);
  window.addEventListener("unhandledrejection", rejected);
  undoing.push(() => {
    window.removeEventListener("error", failed);
    window.removeEventListener("unhandledrejection", rejected);
  });
})();
