// `browser_file_upload`, `browser_drop`: files into a page. The bridge has opened them, and gives their bytes in pieces.

import { isFields } from "../../../shared/ports/wire.ts";
import { ToolError, needed, numbers, texts } from "../call.ts";
import { type Hand, type Tool, acted, inDocument } from "../hand.ts";
import type { FileFacts } from "../page/commands.ts";

export const fileUpload: Tool = async (hand) => {
  const target = texts(hand.args, "target");
  const transfer = await carried(hand, target);
  if (transfer === undefined) throw new ToolError("no file is named: give paths or files");
  return acted(hand, "The files were handed over.", target, "upload", { target, ...transfer });
};

export const drop: Tool = async (hand) => {
  const target = needed(hand.args, "target");
  const given = hand.args["data"];
  const data = Object.entries(isFields(given) ? given : {}).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  const transfer = await carried(hand, target);
  if (transfer === undefined && data.length === 0) throw new ToolError("nothing is named to drop: give paths, files or data");
  return acted(hand, "Dropped.", target, "drop", { target, data, ...(transfer ?? { transfer: "", site: undefined }) });
};

/** Brings the call's files into the document that the target is in; under which name they are there. */
async function carried(hand: Hand, target: string | undefined): Promise<{ transfer: string; site: string | undefined } | undefined> {
  const listed: unknown = hand.args["files"];
  const files = (Array.isArray(listed) ? listed : []).filter(isFields).map((file): FileFacts => ({ name: texts(file, "name") ?? "file", type: texts(file, "type") ?? "", size: numbers(file, "size") ?? 0 }));
  if (files.length === 0) return undefined;
  const [transfer, site] = [crypto.randomUUID(), texts(hand.args, "site")];
  for (const [nth, file] of files.entries()) {
    let offset = 0;
    do {
      hand.signal.throwIfAborted();
      const data = await hand.piece(nth, offset);
      const { has } = await inDocument(hand, target, "keep", { transfer, site, nth, file, data });
      if (has <= offset && file.size > 0) throw new ToolError(`${file.name} could not be read to its end`);
      offset = has;
    } while (offset < file.size);
  }
  return { transfer, site };
}
