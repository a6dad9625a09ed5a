// Values of secret fields, which are in no answer: wherever else a page shows them, too.
//
// Owns which values this document has had in such fields. Must never give one of them to anybody but the background, which takes
// them out of what other documents say, or keep them longer than the document.

import { Failure } from "./failure.ts";
import { patternOf, without } from "./patterns.ts";
import { type Field, isField, isSecret, keepSecret } from "./roles.ts";

/** A value of fewer characters is too common to be looked for; of one with more, the beginning is. */
const SHORTEST = 3;
const LONGEST = 2_000;

/** So many are remembered: a page could make new ones for ever. */
const MOST = 100;

/** Each with the pattern that finds it. */
const values = new Map<string, RegExp>();

/** The secret fields of this document; those in shadow roots as far as they are open. */
export function secretFields(root: Document | ShadowRoot = document): Field[] {
  const inner = [...root.querySelectorAll("*")].flatMap(({ shadowRoot }) => (shadowRoot === null ? [] : secretFields(shadowRoot)));
  return [...[...root.querySelectorAll<Field>("input, textarea, select")].filter(isSecret), ...inner];
}

/** Notes what stands in secret fields now. */
export function noteSecrets(): void {
  for (const { value } of secretFields()) if (values.size < MOST) note(value);
}

function note(whole: string): void {
  const value = whole.slice(0, LONGEST);
  if (value.length >= SHORTEST && !values.has(value)) values.set(value, patternOf(value));
}

/** A secret of the person's is about to be typed: only at the site that they keep it for, and never read from there. */
export function noteTyped(field: Element, value: string, site: string): void {
  // The tab is there; this document may be a frame of another site, or the one before.
  if (self.origin !== site) throw new Failure("denied", `this secret is for ${site}, but the field is not in a document of that site`);
  if (!isField(field)) throw new Failure("invalid", "a secret can only be typed into a field");
  keepSecret(field);
  note(value);
}

/** The values, for the background alone. */
export const secretValues = (): string[] => [...values.keys()];

/** The same without the values of secret fields. */
export const withoutSecrets = <T>(told: T): T => without(told, [...values.values()]);
