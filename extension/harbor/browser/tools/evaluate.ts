// `browser_evaluate`: a function of the client's in the page's own world. The bridge has asked the person, for this client and site.
//
//   the page API of the tab closes ─► target is marked by an event ─► the function runs ─► its value as JSON, by functions that were
//   there before the page's ─► text of the page
//
// Must never run anything where the page API is still open, or in another site's document than the one that was asked about.

import { documentIn, placeIn, runCode } from "../../../shared/browser/tabs.ts";
import { DeniedError, ToolError, needed, texts } from "../call.ts";
import { Silent } from "../documents.ts";
import { type Hand, type Tool, inDocument } from "../hand.ts";
import { KEPT } from "../page/commands.ts";

/** The longest result, in characters, and how long the function may take, in milliseconds. */
const MOST = 100_000;
const LONGEST_MS = 15_000;

export const evaluate: Tool = async (hand) => {
  const { args, tab, documents } = hand;
  const [source, target, site] = [needed(args, "function"), texts(args, "target"), needed(args, "site")];
  const frame = documents.frameOf(tab.id, target);
  const name = `harbor-${crypto.randomUUID()}`;
  await hand.closeApi(tab.id);
  // Where a session found the document as it is, what runs before the page's scripts is put there now.
  await placeIn(tab.id, frame, "browser_own_world.js", false);
  // What is given may be more than a function: it runs in no other document than this one, wherever the tab goes meanwhile.
  const document = await documentIn(tab.id, frame);
  if (document?.origin !== site) throw new DeniedError("the document is not of the site that was asked about");
  if (target !== undefined) {
    await runCode(tab.id, document.id, `addEventListener(${JSON.stringify(name)}, (event) => { globalThis[${JSON.stringify(name)}] = event.composedPath()[0]; }, { capture: true, once: true });`);
    await inDocument(hand, target, "mark", { target, name });
  }
  const found = await within(hand, runCode(tab.id, document.id, codeOf({ source, name, hasTarget: target !== undefined })));
  if (found === null || typeof found !== "object") throw new ToolError("nothing came back: what was given is no JavaScript function, or the page has gone to another document");
  const { value, error } = found as { value?: unknown; error?: unknown };
  if (typeof value !== "string") return { said: "The function failed.", page: String(error).slice(0, 2_000), isError: true };
  await documents.noteSecrets(tab.id, hand.mayUse);
  return { said: "The function has ended. Its value:", page: hand.without(value.slice(0, MOST)) };
};

async function within<T>({ signal }: Hand, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silent(`the function did not end within ${LONGEST_MS / 1000} s`)), LONGEST_MS);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof ToolError) throw error;
    throw new ToolError(`the function could not be run: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** The code: a function that does not parse fails as a whole, and nothing of it runs. */
function codeOf({ source, name, hasTarget }: { source: string; name: string; hasTarget: boolean }): string {
  const [key, kept] = [JSON.stringify(name), JSON.stringify(KEPT)];
  return `(async () => {
  const kept = globalThis[${kept}], element = globalThis[${key}];
  delete globalThis[${key}];
  if (${hasTarget} && element === undefined) return { error: "the element is gone" };
  try {
    return { value: kept.written(await (
${source}
)(element), ${MOST}) };
  } catch (error) {
    return { error: kept.written(error, 2000) };
  }
})()`;
}
