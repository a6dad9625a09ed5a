// The field in which the person types.
//
// Owns its text and its focus. Must never know what is said with it.

/** The field's id. */
export const FIELD = "say-text";

/** The field, where a chat is shown. */
export const field = () => document.getElementById(FIELD) as HTMLTextAreaElement | null;

/** What is typed so far. */
export function typed(): string {
  return field()?.value ?? "";
}

/** Puts a text into the field, where the person goes on. */
export function put(text: string): void {
  const found = field();
  if (found === null) return;
  found.value = text;
  found.focus();
  found.setSelectionRange(text.length, text.length);
}
