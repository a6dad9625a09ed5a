// What a question shows of one server: a box for all its tools, a box for each, and what the server says of them.
//
// Owns how a tool looks. Must never say whether a box is ticked: ticks.ts decides that, and view.ts brings it into the page.

import { openTab, ownUrl } from "../../shared/browser/api.ts";
import type { AskedServer, AskedTool } from "../own.ts";
import { PART_WORDS } from "../sidebar/diff.ts";
import { hrefOf } from "../sidebar/route.ts";
import { element, foreign } from "./elements.ts";
import { everyOf, isFlagged, singlesOf } from "./ticks.ts";
import { EFFECT_MARKS, FLAGGED_WORDS, STRANGE_WORDS, everyWords, listWords, stateWords, unlistedWords } from "./words.ts";

type Flagged = { server: AskedServer; tool: AskedTool }[];

/** The tools of all servers that have changed: they come first. */
export function flaggedOf(servers: AskedServer[]): Flagged {
  return servers.flatMap((server) => singlesOf(server).filter(isFlagged).map((tool) => ({ server, tool })));
}

export function flaggedPart(tools: Flagged): HTMLElement {
  const group = element("div", { class: "server flagged", role: "group", "aria-labelledby": "flagged-head" });
  group.append(element("h2", { id: "flagged-head" }, FLAGGED_WORDS), ...tools.map(({ server, tool }, at) => toolPart(server, tool, `flagged-${at}`)));
  return group;
}

/** `opened`: whether the single tools are shown, where there is a box for all of them. */
export function serverPart(server: AskedServer, opened: boolean): HTMLElement {
  const { id, tools, list, unlisted, strange } = server;
  const every = tools.find(({ name }) => name === everyOf(id));
  const name = headOf(server, every === undefined ? "h3" : "strong");
  const group = element("div", { class: "server", role: "group", "aria-labelledby": `server-${id}` });
  if (every === undefined) group.append(name);
  const singles = singlesOf(server);
  const rows = singles.flatMap((tool, at) => (isFlagged(tool) ? [] : [toolPart(server, tool, `tool-${id}-${at}`)]));
  if (every === undefined) group.append(...rows);
  else {
    const inside = element("div", { class: "singles", id: `singles-${id}` });
    inside.append(...rows);
    inside.hidden = !opened;
    group.append(everyPart(server, every, name, rows.length, opened), inside);
  }
  if (unlisted !== undefined) group.append(element("p", {}, unlistedWords(unlisted)));
  if (list !== undefined) group.append(element("p", {}, listWords(list, singles.length > 0)));
  if (strange !== undefined) {
    const line = element("p", { class: "strange" }, STRANGE_WORDS[0]);
    line.append(...foreign(server.label), STRANGE_WORDS[1], ...foreign(strange.map((name) => `“${name}”`).join(", ")));
    group.append(line);
  }
  return group;
}

/** Its name, and whether it runs. */
function headOf({ id, label, state, lazy }: AskedServer, tag: string): HTMLElement {
  const head = element(tag, { id: `server-${id}` });
  head.append(...foreign(label), element("span", { class: "state" }, ` ${stateWords(state, lazy)}`));
  return head;
}

/** One line for the server, with the box for all of it. */
function everyPart(server: AskedServer, every: AskedTool, name: HTMLElement, singles: number, opened: boolean): HTMLElement {
  const row = element("div", { class: "every" });
  row.append(labelPart(every, `every-${server.id}`, [name, element("span", { class: "all" }, everyWords(server))]));
  if (singles > 0) {
    const label = `Choose single tools of ${server.id}`;
    row.append(element("button", { type: "button", "data-opens": server.id, "aria-expanded": String(opened), "aria-controls": `singles-${server.id}`, "aria-label": label }, "Choose"));
  }
  return row;
}

function labelPart(tool: AskedTool, id: string, name: Node[]): HTMLElement {
  const box = element("input", { type: "checkbox", id, "data-tool": tool.name }) as HTMLInputElement;
  // It is revoked in the panel, and not here.
  if (tool.before === "allowed") box.setAttribute("disabled", "");
  const label = element("label", { for: id });
  label.append(box, ...name);
  if (tool.before === "allowed") label.append(element("span", { class: "state" }, " (allowed already)"));
  return label;
}

function toolPart(server: AskedServer, tool: AskedTool, id: string): HTMLElement {
  const found = element("div", { class: "tool" });
  const [name, ...more] = foreign(tool.name.slice(server.id.length + 1));
  found.append(labelPart(tool, id, name === undefined ? [] : [name]), ...more);
  if (isFlagged(tool)) {
    const of = element("span", { class: "state" }, "of ");
    of.append(...foreign(server.label));
    found.append(of);
  }
  const mark = tool.effect === undefined ? undefined : EFFECT_MARKS[tool.effect];
  if (mark !== undefined) found.append(element("span", { class: "effect", "data-effect": tool.effect ?? "" }, mark));
  const text = [tool.title, tool.description].filter((one) => one !== undefined).join(": ");
  // What has changed says it, with what it was before.
  if (text !== "" && !isFlagged(tool)) {
    const said = element("p", {}, "The server says: ");
    said.append(...foreign(text));
    found.append(said);
  }
  if (tool.hidden) found.append(element("p", {}, "Its description has invisible characters. They are shown as codes here."));
  if (tool.changed !== undefined) found.append(changedPart(server.id, tool.changed));
  return found;
}

function changedPart(id: string, { parts, blocked }: NonNullable<AskedTool["changed"]>): HTMLElement {
  const found = element("div", { class: "changed" });
  found.append(element("strong", {}, "Changed since you last accepted it."));
  for (const { part, before, after } of parts) {
    // The description is what a tool mostly is: it needs no name.
    if (part !== "description") found.append(element("div", {}, `Changed: ${PART_WORDS[part].replace("Its", "its")}.`));
    const [old, now] = part === "title" || part === "description" ? ["Before: ", "Now: "] : ["Removed: ", "Added: "];
    found.append(partLine(old, before), partLine(now, after));
  }
  if (parts.length === 0) found.append(element("div", {}, "The change cannot be shown here."));
  if (blocked) found.append(element("div", {}, "No site can use it until you accept the change."));
  const review = element("button", { type: "button", class: "review" }, "Review in Harbor");
  review.addEventListener("click", () => openTab(ownUrl(`sidebar.html${hrefOf({ at: "server", id, part: "tools" })}`)));
  found.append(review);
  return found;
}

function partLine(head: string, text: string): HTMLElement {
  const line = element("div", {}, text === "" ? `${head}nothing` : head);
  if (text !== "") line.append(...foreign(text));
  return line;
}
