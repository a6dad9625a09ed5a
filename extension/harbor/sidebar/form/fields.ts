// The controls of a form.
//
// Owns how each kind of field looks. What is typed goes into the draft's boxes and is read when it is used. All texts of fields are a
// server's.

import { visible } from "../../../shared/text/visible.ts";
import { type Child, type Props, type VNode, h } from "../dom.ts";
import { button, field as labelled, foreign, oneLine } from "../parts.ts";
import { type Draft, type Problems, newItem } from "./draft.ts";
import type { Field } from "./schema.ts";

export interface Around {
  problems: Problems;
  /** The form has other fields now. */
  changed(): void;
}

/** The fields of a form. `id`: a name on this page that nothing else has. */
export function fieldsOf(fields: Field[], draft: Draft, id: string, around: Around): VNode {
  const boxes = "members" in draft ? draft.members : [];
  return h(
    "div.fields",
    {},
    ...fields.map((field, at) => {
      const box = boxes[at];
      return box === undefined ? undefined : controlOf(field, box, `${id}-${at}`, around);
    }),
  );
}

function controlOf(field: Field, draft: Draft, id: string, around: Around): Child {
  if (field.is === "group") return groupOf(field, fieldsOf(field.fields, draft, id, around));
  if (field.is === "list") return listOf(field, draft, id, around);
  if (!("text" in draft)) return undefined;
  const box = draft;
  const input = ({ target }: Event) => {
    box.text = (target as HTMLInputElement).value;
  };
  const label = field.title === "" ? "Value" : oneLine(field.title);
  const props = { id, label, about: aboutOf(field), needed: field.required, problem: around.problems.get(draft) };
  return labelled(props, (given) => plainOf(field, box.text, { ...given, on: { input } }));
}

function aboutOf(field: Field): Child {
  const said = [field.about, field.is === "json" ? `As JSON: ${field.why}.` : undefined, rangeOf(field)];
  const text = said.filter((one) => one !== undefined).join(" ");
  return text === "" ? undefined : foreign(text);
}

function rangeOf(field: Field): string | undefined {
  if (field.is === "text") return field.hint === undefined ? undefined : `(${field.hint})`;
  if (field.is !== "number" || (field.min === undefined && field.max === undefined)) return undefined;
  return `(${field.min ?? "…"} to ${field.max ?? "…"})`;
}

function plainOf(field: Field, text: string, props: Props): VNode {
  switch (field.is) {
    case "yes_no":
      return select(field.required || field.initial !== undefined ? [] : [["", "not set"]], [["true", "yes"], ["false", "no"]], text, props);
    case "choice":
      return select(
        field.required && text !== "" ? [] : [["", field.required ? "choose" : "not set"]],
        field.choices.map((choice, at) => [String(at), visible(field.titles[at] ?? (typeof choice === "string" ? choice : JSON.stringify(choice))).text]),
        text,
        props,
      );
    case "number":
      return h("input", { type: "text", inputmode: field.integer ? "numeric" : "decimal", autocomplete: "off", value: text, ...props });
    case "json":
      return h("textarea.code", { rows: 3, spellcheck: "false", value: text, ...props });
    default:
      if (field.is === "text" && field.long) return h("textarea", { rows: 2, value: text, ...props });
      return h("input", { type: "text", autocomplete: "off", value: text, ...props });
  }
}

function select(before: string[][], choices: string[][], value: string, props: Props): VNode {
  const options = [...before, ...choices].map(([is = "", words]) => h("option", { value: is, key: is }, words));
  return h("select", { value, ...props }, ...options);
}

function groupOf(field: Field, fields: VNode): VNode {
  return h("fieldset", {}, h("legend", {}, oneLine(field.title)), field.about === undefined ? undefined : h("p.about", {}, foreign(field.about)), fields);
}

function listOf(field: Extract<Field, { is: "list" }>, draft: Draft, id: string, around: Around): Child {
  if (!("items" in draft)) return undefined;
  const list = draft;
  const problem = around.problems.get(draft);
  const remove = (key: number) => {
    list.items = list.items.filter((item) => item.key !== key);
    around.changed();
  };
  const add = () => {
    list.items = [...list.items, newItem(field.item)];
    around.changed();
  };
  const title = visible(field.title).text;
  const items = list.items.map((item, at) =>
    h(
      "li",
      { key: String(item.key) },
      controlOf({ ...field.item, title: `${field.title} ${at + 1}` } as Field, item.draft, `${id}-${item.key}`, around),
      button("Remove", () => remove(item.key), { class: "quiet", "aria-label": `Remove ${title} ${at + 1}` }),
    ),
  );
  return h(
    "fieldset.list",
    {},
    h("legend", {}, oneLine(field.title), field.required ? h("span.needed", {}, " required") : undefined),
    field.about === undefined ? undefined : h("p.about", {}, foreign(field.about)),
    h("ul", {}, ...items),
    h("p.problem", { hidden: problem === undefined }, problem ?? ""),
    button("Add one", add, { id: `${id}-add`, class: "quiet", "aria-label": `Add one to ${title}` }),
  );
}
