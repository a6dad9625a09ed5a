// The part of a page source that is in a document, out of the page's reach: which sensitive fields there are, and word that tools have changed.
//
// Owns the port to the background, which ends with the document. Must never read what stands in the page. A page may fake that its tools have
// changed: they are read again, and nothing else follows.

import { connectOwn } from "../../shared/browser/api.ts";
import { closedShadowRoot } from "../../shared/browser/content.ts";
import { openClosedRoots } from "../browser/page/tree.ts";
import { type Sensitive, sensitiveIn } from "../page/sensitive.ts";
import { HEARD_PORT, PART } from "./forms.ts";

openClosedRoots(closedShadowRoot);

/** Ends what hears for a background before this one. */
let stop = (): void => undefined;

/** Tells the background of each event of that name. */
function hear(event: string): null {
  stop();
  const port = connectOwn(HEARD_PORT);
  const tell = () => port.post("changed");
  const end = () => document.removeEventListener(event, tell);
  stop = () => (end(), port.disconnect());
  port.onDisconnect(end);
  document.addEventListener(event, tell);
  return null;
}

export type Part = typeof part;
const part = { fields: (): Sensitive[] => sensitiveIn(document), hear };

// Once in each document, however often it is put there.
(globalThis as unknown as { [PART]?: Part })[PART] ??= part;
