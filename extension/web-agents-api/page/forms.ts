// The page's forms that are tools, as `modelContext` has them: what the content script finds in the document, and fills in.
//
// Owns what a page's own script sees of such a call: `agentInvoked` and `respondWith` of the form's `submit`. Must never look into a form here, where
// an input may have the name of anything.

import { attributeOf, defineProperty, listenTo, self_, stopListeningTo, stringify, targetOf } from "./builtins.ts";
import { ask } from "./channel.ts";
import { shown } from "./errors.ts";

/** One that the document has; `inputSchema` is JSON. */
interface Form {
  name: string;
  description: string;
  inputSchema: string;
}

/** Those of now. A page whose content script has gone has none. */
export async function theForms(): Promise<Form[]> {
  try {
    return (await ask("forms")) as Form[];
  } catch {
    return [];
  }
}

/** The function of a form: fills it in, and gives what the page's script has answered when it is submitted. */
export const runForm = (name: string) => async (input: unknown, { signal }: { signal: AbortSignal }): Promise<unknown> => {
  let answer: unknown = null;
  const submitted = (event: Event): void => {
    if (attributeOf(targetOf(event), "toolname") !== name) return;
    defineProperty(event, "agentInvoked", shown(true));
    defineProperty(event, "respondWith", shown((value: unknown) => (answer = value)));
  };
  listenTo(self_, "submit", submitted, true);
  try {
    await ask("form_run", { name, args: stringify(input) }, { signal });
    return await answer;
  } finally {
    stopListeningTo(self_, "submit", submitted, true);
  }
};
