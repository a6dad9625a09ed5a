// `browser_fill_form`: several fields, one after the other; where one cannot be filled, those before it are said.

import { type Fields, isFields } from "../../../shared/ports/wire.ts";
import { ToolError, needed, textOrSecret, texts } from "../call.ts";
import { Silent } from "../documents.ts";
import { type Tool, acted, arrived } from "../hand.ts";

export const fillForm: Tool = async (hand) => {
  const fields = Array.isArray(hand.args["fields"]) ? (hand.args["fields"] as unknown[]).filter(isFields) : [];
  const lines: string[] = [];
  for (const [index, field] of fields.entries()) {
    try {
      lines.push((await one(hand, field)).page ?? "");
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      return { said: `${index} of ${fields.length} fields were filled, the next one could not be.`, page: [...lines, error.message].join("\n"), isError: true, isSilent: error instanceof Silent };
    }
  }
  return arrived(hand, `${fields.length} fields were filled.`, lines);
};

function one(hand: Parameters<Tool>[0], field: Fields) {
  const target = needed(field, "target");
  const { text: value, ...site } = textOrSecret(field, "value");
  // A snapshot is one of the whole form.
  const { snapshot, ...args } = hand.args;
  return acted({ ...hand, args }, "", target, "fill", { target, kind: texts(field, "type") ?? "textbox", value, ...site });
}
