// The least that a JSON Schema allows: what models that only echo answer where an answer has to have a form.
//
// Pure. Must never be more than a test needs.

export interface Schema {
  type?: string;
  minimum?: number;
  enum?: unknown[];
  properties?: { [name: string]: Schema };
  required?: string[];
}

/** The least value of a schema. */
export function leastOf({ type, minimum = 0, enum: choices, properties = {}, required = [] }: Schema): unknown {
  if (choices !== undefined) return choices[0];
  if (type === "object") return Object.fromEntries(required.map((name) => [name, leastOf(properties[name] ?? {})]));
  if (type === "array") return [];
  if (type === "boolean") return true;
  return type === "number" || type === "integer" ? minimum : "text";
}
