// What runs in the page's own world, in tabs of a session, before its scripts: dialogs that would stop the tab are answered at
// once, and what is written to the console is kept.
//
// Owns the two lists. They are in the page's hands: whoever reads them treats them as text of the page.

import { KEPT } from "./commands.ts";

interface Kept {
  dialogs: { kind: string; message: string; answer: string }[];
  console: { level: string; text: string; at: number }[];
  /** How the next question is answered; once. */
  next: { accept: boolean; text?: string } | undefined;
}

const MOST = 500;
const LONGEST = 2_000;

(() => {
  const place = window as unknown as { [KEPT]?: Kept };
  if (place[KEPT] !== undefined) return;
  const kept: Kept = { dialogs: [], console: [], next: undefined };
  Object.defineProperty(place, KEPT, { value: kept, enumerable: false });
  const cut = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);
  const keep = <T>(list: T[], entry: T) => {
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
  window.alert = (message?: unknown) => void dialog("alert", message, () => ({ value: undefined, said: "closed" }));
  window.confirm = (message?: unknown) =>
    dialog("confirm", message, (how) => ({ value: how?.accept ?? false, said: how?.accept ? "accepted" : "dismissed" })) as boolean;
  window.prompt = (message?: unknown, preset?: unknown) =>
    dialog("prompt", message, (how) => ({ value: how?.accept ? (how.text ?? String(preset ?? "")) : null, said: how?.accept ? "accepted" : "dismissed" })) as string | null;
  window.print = () => void dialog("print", "", () => ({ value: undefined, said: "not printed" }));
  const open = window.open;
  window.open = (...how) => {
    const opened = open.apply(window, how);
    if (opened === null) keep(kept.dialogs, { kind: "popup", message: cut(String(how[0] ?? "")), answer: "stopped by the browser" });
    return opened;
  };
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
    console[level] = (...values: unknown[]) => {
      keep(kept.console, { level, text: cut(values.map(shown).join(" ")), at: Date.now() });
      original.apply(console, values);
    };
  }
  window.addEventListener("error", ({ message, filename, lineno }) => keep(kept.console, { level: "error", text: cut(`${message} (${filename}:${lineno})`), at: Date.now() }));
  window.addEventListener("unhandledrejection", ({ reason }) => keep(kept.console, { level: "error", text: cut(`unhandled rejection: ${shown(reason)}`), at: Date.now() }));
})();
