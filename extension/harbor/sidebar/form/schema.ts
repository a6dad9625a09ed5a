// A form made of a tool's JSON Schema: which fields there are, and where only JSON will do.
//
// Pure. Must never trust the schema: it is a server's, and may be of any size, depth or kind. It is not a validator: the server is.

import { isFields } from "../../../shared/ports/wire.ts";

interface Common {
  name: string;
  title: string;
  about: string | undefined;
  required: boolean;
  /** What the schema says that it is where nothing is said. */
  initial: unknown;
}

export type Field = Common &
  (
    | { is: "text"; long: boolean; hint: string | undefined }
    | { is: "number"; integer: boolean; min: number | undefined; max: number | undefined }
    | { is: "yes_no" }
    /** `titles`: the words of the choices, where the server has such. */
    | { is: "choice"; choices: unknown[]; titles: (string | undefined)[] }
    | { is: "list"; item: Field; min: number; max: number }
    | { is: "group"; fields: Field[] }
    /** JSON, since no form says it. */
    | { is: "json"; why: string }
  );

export type Plan = { is: "form"; fields: Field[] } | { is: "json"; why: string };

/** Beyond these a form is no help. */
const MOST_FIELDS = 80;
const MOST_CHOICES = 200;
const MOST_DEPTH = 4;
const MOST_LETTERS = 64 * 1024;

type Schema = { [name: string]: unknown };

interface Reading {
  root: Schema;
  fields: number;
}

class TooMuch extends Error {}

/** The form for a tool's arguments. */
export function planOf(inputSchema: unknown): Plan {
  if (!isFields(inputSchema)) return { is: "json", why: "the server gives no schema" };
  if ((JSON.stringify(inputSchema)?.length ?? 0) > MOST_LETTERS) return { is: "json", why: "its schema is too large for a form" };
  const reading: Reading = { root: inputSchema, fields: 0 };
  try {
    const field = fieldOf(reading, "", inputSchema, true, 0);
    if (field.is === "group") return { is: "form", fields: field.fields };
    return { is: "json", why: field.is === "json" ? field.why : "its arguments are not an object" };
  } catch (error) {
    if (!(error instanceof TooMuch)) throw error;
    return { is: "json", why: "its schema has too many parts for a form" };
  }
}

function fieldOf(reading: Reading, name: string, given: unknown, required: boolean, depth: number): Field {
  reading.fields += 1;
  if (reading.fields > MOST_FIELDS) throw new TooMuch();
  const schema = meant(reading, given);
  const common = commonOf(name, given, schema, required);
  const json = (why: string): Field => ({ ...common, is: "json", why });
  if (schema === undefined) return json("it may be one of several things");
  if (Array.isArray(schema["enum"]) || "const" in schema) return choiceOf(common, schema) ?? json("there are too many choices");
  switch (typeOf(schema)) {
    case "string":
      return { ...common, is: "text", long: isLong(name, schema), hint: hintOf(schema) };
    case "number":
    case "integer":
      return { ...common, is: "number", integer: schema["type"] !== "number" && typeOf(schema) === "integer", ...bounds(schema) };
    case "boolean":
      return { ...common, is: "yes_no" };
    case "array":
      return listOf(reading, common, schema, depth) ?? json("its items are of several kinds");
    case "object":
      return groupOf(reading, common, schema, depth) ?? json("its names are not known in advance");
    default:
      return json("its schema does not say what it is");
  }
}

/** A schema without references and "or nothing"; `undefined` where it leaves a choice that no form shows. */
function meant(reading: Reading, given: unknown, hops = 0): Schema | undefined {
  if (!isFields(given) || hops > 8) return undefined;
  if (typeof given["$ref"] === "string") {
    const found = meant(reading, referred(reading.root, given["$ref"]), hops + 1);
    const { $ref: _, ...rest } = given;
    return found === undefined ? undefined : { ...found, ...rest };
  }
  if ("allOf" in given || "if" in given || "not" in given) return undefined;
  const several = given["anyOf"] ?? given["oneOf"];
  if (several === undefined) return given;
  const { anyOf: _any, oneOf: _one, ...rest } = given;
  if (Array.isArray(several) && several.length > 0 && several.every((one) => isFields(one) && "const" in one)) {
    // MCP titles the choices of a question like this.
    return { ...rest, enum: several.map((one: Schema) => one["const"]), enumNames: several.map((one: Schema) => one["title"]) };
  }
  const others = Array.isArray(several) ? several.filter((one) => !isFields(one) || one["type"] !== "null") : [];
  if (others.length !== 1 || (several as unknown[]).length !== 2) return undefined;
  const found = meant(reading, others[0], hops + 1);
  return found === undefined ? undefined : { ...found, ...rest };
}

/** What a reference inside of the schema refers to. */
function referred(root: Schema, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  const names = reference.slice(2).split("/").map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce<unknown>((at, name) => (isFields(at) && Object.hasOwn(at, name) ? at[name] : undefined), root);
}

function commonOf(name: string, given: unknown, schema: Schema | undefined, required: boolean): Common {
  const said = { ...schema, ...(isFields(given) ? given : {}) } as Schema;
  const { title, description } = said;
  return {
    name,
    title: typeof title === "string" && title !== "" ? title : name,
    about: typeof description === "string" && description !== "" ? description : undefined,
    required,
    initial: said["default"],
  };
}

/** Its one type, "or nothing" aside. */
function typeOf({ type, properties }: Schema): unknown {
  if (type === undefined && isFields(properties)) return "object";
  if (!Array.isArray(type)) return type;
  const others = type.filter((one) => one !== "null");
  return others.length === 1 ? others[0] : undefined;
}

function choiceOf(common: Common, schema: Schema): Field | undefined {
  const choices = Array.isArray(schema["enum"]) ? schema["enum"] : [schema["const"]];
  const names: unknown[] = Array.isArray(schema["enumNames"]) ? schema["enumNames"] : [];
  const titles = choices.map((_, at) => (typeof names[at] === "string" && names[at] !== "" ? names[at] : undefined));
  return choices.length > MOST_CHOICES || choices.length === 0 ? undefined : { ...common, is: "choice", choices, titles };
}

function listOf(reading: Reading, common: Common, schema: Schema, depth: number): Field | undefined {
  const { items, minItems, maxItems } = schema;
  if (!isFields(items) || "prefixItems" in schema || depth >= MOST_DEPTH) return undefined;
  const item = fieldOf(reading, "", items, true, depth + 1);
  return { ...common, is: "list", item, min: numberOr(minItems, 0), max: numberOr(maxItems, 100) };
}

function groupOf(reading: Reading, common: Common, schema: Schema, depth: number): Field | undefined {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
  if (!isFields(properties) || depth > MOST_DEPTH) return undefined;
  const open = patternProperties !== undefined || (additionalProperties !== undefined && additionalProperties !== false);
  const names = Object.keys(properties);
  if (names.length === 0 && (open || depth > 0)) return undefined;
  const needed = Array.isArray(required) ? required : [];
  const fields = names.map((name) => fieldOf(reading, name, properties[name], needed.includes(name), depth + 1));
  return { ...common, is: "group", fields };
}

function bounds({ minimum, maximum }: Schema): { min: number | undefined; max: number | undefined } {
  const bound = (value: unknown) => (typeof value === "number" ? value : undefined);
  return { min: bound(minimum), max: bound(maximum) };
}

/** What is rarely one line, by the last word of its name. */
const LONG = /^(body|code|comment|contents?|css|description|diff|html|instructions|markdown|notes?|patch|prompt|script|snippet|sql|text|thought|xml)$/;

/** Whether it has lines: Enter makes one then, and calls the tool otherwise. */
function isLong(name: string, { maxLength, format, pattern, contentMediaType, default: usual }: Schema): boolean {
  if (format !== undefined || pattern !== undefined) return false;
  if (maxLength !== undefined) return numberOr(maxLength, 0) > 200;
  const last = name.split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/).filter((word) => word !== "").at(-1) ?? "";
  return contentMediaType !== undefined || (typeof usual === "string" && usual.includes("\n")) || LONG.test(last.toLowerCase());
}

function hintOf({ format, pattern, examples }: Schema): string | undefined {
  if (typeof format === "string") return format;
  if (typeof pattern === "string") return `like ${pattern}`;
  return Array.isArray(examples) && typeof examples[0] === "string" ? `such as ${examples[0]}` : undefined;
}

function numberOr(value: unknown, other: number): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : other;
}
