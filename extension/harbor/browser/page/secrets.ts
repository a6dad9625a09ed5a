// Values of secret fields, which are in no answer: wherever else a page shows them, too.
//
// Owns which values this document has had in such fields. Must never give one of them to anybody, or keep them longer than the document.

import { Failure } from "./failure.ts";
import { patternOf } from "./patterns.ts";
import { type Field, isField, isSecret, keepSecret } from "./roles.ts";

const INSTEAD = "(not shown)";

/** A value of fewer characters is too common to be looked for. */
const SHORTEST = 3;

/** So many are remembered: a page could make new ones for ever. */
const MOST = 100;

const values = new Set<string>();

/** The secret fields of this document; those in shadow roots as far as they are open. */
export function secretFields(root: Document | ShadowRoot = document): Field[] {
  const inner = [...root.querySelectorAll("*")].flatMap(({ shadowRoot }) => (shadowRoot === null ? [] : secretFields(shadowRoot)));
  return [...[...root.querySelectorAll<Field>("input, textarea, select")].filter(isSecret), ...inner];
}

/** Notes what stands in secret fields now. */
export function noteSecrets(): void {
  for (const { value } of secretFields()) if (value.length >= SHORTEST && values.size < MOST) values.add(value);
}

/** A secret of the person's is about to be typed: only at the site that they keep it for, and never read from there. */
export function noteTyped(field: Element, value: string, site: string): void {
  // The tab is there; this document may be a frame of another site, or the one before.
  if (self.origin !== site) throw new Failure("denied", `this secret is kept for ${site}, and the field is not in a document of that site`);
  if (!isField(field)) throw new Failure("invalid", "a secret is typed into a field only");
  keepSecret(field);
  if (value.length >= SHORTEST) values.add(value);
}

/** The same without the values of secret fields. */
export function withoutSecrets<T>(told: T): T {
  if (values.size === 0) return told;
  return without(told, [...values].map(patternOf)) as T;
}

function without(told: unknown, patterns: RegExp[]): unknown {
  if (typeof told === "string") return patterns.reduce((text, pattern) => text.replace(pattern, INSTEAD), told);
  if (Array.isArray(told)) return told.map((one) => without(one, patterns));
  if (typeof told !== "object" || told === null) return told;
  return Object.fromEntries(Object.entries(told).map(([name, value]) => [name, without(value, patterns)]));
}
