// Where the keyboard goes on after something has changed.
//
// Owns nothing of the page. Must never take the focus without something that the person has done.

/** Longer than the page takes to show what has changed. */
const SHOWN_MS = 40;

/** Focuses what the selector finds, now and once what has changed is shown. */
export function focus(selector: string): void {
  // Tests of views have no page.
  if (typeof document === "undefined") return;
  const find = () => document.querySelector<HTMLElement>(selector)?.focus();
  find();
  setTimeout(find, SHOWN_MS);
}
