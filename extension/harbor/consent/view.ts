// Builds the page of a question, element by element.
//
// Owns what stands where. Foreign text goes through `foreign`, which makes it visible, and into textContent; nothing is
// ever parsed as HTML. Must never answer anything: consent.ts does.

import { visible } from "../../shared/text/visible.ts";
import type { AskedServer, AskedTool, QuestionView } from "../own.ts";
import { PART_WORDS } from "../sidebar/diff.ts";
import { MISSING_WORDS, SCOPE_WORDS, STRANGE_WORDS, isLeftIn, listWords, onceWords, stateWords, toolsHead, toolsNote } from "./words.ts";

/** An element of the page. */
export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** Each server as it was drawn last. */
let drawn: string[] = [];

/** Puts a question into the page, or what it has become: what is the same stays as it is, and so does what the person has left out. */
export function show(question: QuestionView): void {
  document.title = `Harbor: ${question.origin} asks`;
  part("origin").textContent = question.origin;
  if (question.reason !== undefined && question.reason !== "") {
    part("reason-part").hidden = false;
    part("reason").replaceChildren(...foreign(question.reason));
  }
  part("scopes").replaceChildren(...question.scopes.map((scope) => element("li", {}, SCOPE_WORDS[scope])));
  part("tools-head").textContent = toolsHead(question.named);
  part("tools-note").textContent = toolsNote(question.named);
  part("once-note").textContent = onceWords(question.onceSeconds);
  showServers(question.servers);
  const { missing = [] } = question;
  part("missing").hidden = missing.length === 0;
  part("missing").replaceChildren(MISSING_WORDS[0], ...foreign(missing.join(", ")), MISSING_WORDS[1]);
}

function showServers(servers: AskedServer[]): void {
  const place = part("servers");
  const before = drawn;
  drawn = servers.map((server) => JSON.stringify(server));
  if (before.length !== drawn.length || drawn.length === 0) {
    const none = element("p", {}, "There is no server yet: add one in Harbor's sidebar, or by `harbor add`.");
    place.replaceChildren(...(servers.length > 0 ? servers.map((server, at) => serverPart(server, at, new Map())) : [none]));
    return;
  }
  for (const [at, server] of servers.entries()) if (drawn[at] !== before[at]) redraw(place.children[at] as HTMLElement, server, at);
}

/** In the place of what was there, with the focus where it was. */
function redraw(old: HTMLElement, server: AskedServer, at: number): void {
  const boxes = (of: HTMLElement) => [...of.querySelectorAll<HTMLInputElement>("input[data-tool]")];
  const ticks = new Map(boxes(old).map((box) => [box.dataset["tool"] ?? "", box.checked]));
  const held = old.contains(document.activeElement) ? document.activeElement : undefined;
  const made = serverPart(server, at, ticks);
  old.replaceWith(made);
  if (held instanceof HTMLElement) (boxes(made).find((box) => box.dataset["tool"] === held.dataset["tool"]) ?? part("question")).focus();
}

/** The tools that the person has left in, besides those that are allowed already. */
export function chosen(): string[] {
  const boxes = document.querySelectorAll<HTMLInputElement>("input[data-tool]:checked:enabled");
  return [...boxes].map((box) => box.dataset["tool"] ?? "");
}

/** `ticks`: what the person has left in and out so far. */
function serverPart(server: AskedServer, at: number, ticks: ReadonlyMap<string, boolean>): HTMLElement {
  const head = element("h3", { id: `server-${at}` });
  head.append(...foreign(server.label), element("span", { class: "state" }, ` (${stateWords(server.state, server.lazy)})`));
  const every = `${server.id}/*`;
  const all = server.tools.some(({ name }) => name === every);
  const tools = server.tools.map((tool, index) => {
    const isAll = tool.name === every;
    const name = isAll ? [document.createTextNode("All its tools")] : foreign(tool.name.slice(server.id.length + 1));
    const ticked = ticks.get(tool.name) ?? (isLeftIn(server.state) && tool.before !== "left out");
    return toolPart(tool, name, `tool-${at}-${index}`, all && !isAll ? undefined : ticked);
  });
  const group = element("div", { class: "server", role: "group", "aria-labelledby": `server-${at}` });
  group.append(head, ...tools);
  if (server.list !== undefined) group.append(element("p", {}, listWords(server.list, server.tools.some(({ name }) => name !== every))));
  if (server.strange !== undefined) {
    const line = element("p", { class: "strange" }, STRANGE_WORDS[0]);
    line.append(...foreign(server.label), STRANGE_WORDS[1], ...foreign(server.strange.map((name) => `“${name}”`).join(", ")));
    group.append(line);
  }
  return group;
}

/** `checked`: absent where it cannot be chosen by itself. */
function toolPart(tool: AskedTool, name: Node[], id: string, checked: boolean | undefined): HTMLElement {
  const found = element("div", { class: "tool" });
  if (checked !== undefined) {
    const box = element("input", { type: "checkbox", id, "data-tool": tool.name }) as HTMLInputElement;
    box.checked = checked;
    // It is taken back in the sidebar, and not here.
    box.disabled = tool.before === "allowed";
    const label = element("label", { for: id });
    label.append(box, ...name.slice(0, 1));
    if (box.disabled) label.append(element("span", { class: "state" }, "(allowed already)"));
    found.append(label, ...name.slice(1));
  } else {
    found.append(...name);
  }
  const text = [tool.title, tool.description].filter((one) => one !== undefined).join(": ");
  if (text !== "") {
    const said = element("p", {}, "The server says: ");
    said.append(...foreign(text));
    found.append(said);
  }
  if (tool.hidden) found.append(element("p", {}, "Its description has characters that cannot be seen."));
  if (tool.changed !== undefined) found.append(changedPart(tool.changed));
  return found;
}

function changedPart({ parts, blocked }: NonNullable<AskedTool["changed"]>): HTMLElement {
  const found = element("div", { class: "changed" });
  found.append(element("strong", {}, "Changed since you last accepted it."));
  for (const { part, before, after } of parts) {
    // The description is what a tool mostly is: it needs no name.
    if (part !== "description") found.append(element("div", {}, `${PART_WORDS[part]} has changed.`));
    const [old, now] = part === "title" || part === "description" ? ["Before: ", "Now: "] : ["Gone: ", "New: "];
    found.append(partLine(old, before), partLine(now, after));
  }
  if (parts.length === 0) found.append(element("div", {}, "What has changed cannot be shown here."));
  if (blocked) found.append(element("div", {}, "No site can use it until you accept it: `harbor tools --changed` shows the command."));
  return found;
}

function partLine(head: string, text: string): HTMLElement {
  const line = element("div", {}, text === "" ? `${head}nothing` : head);
  if (text !== "") line.append(...foreign(text));
  return line;
}

/** Foreign text, cut, with a button for the rest. */
export function foreign(text: string): Node[] {
  const { text: shown, whole } = visible(text);
  const isolated = element("bdi", { class: "foreign", dir: "auto" }, shown);
  if (whole === undefined) return [isolated];
  const more = element("button", { type: "button", class: "more", "aria-expanded": "false" }, "more");
  more.addEventListener("click", () => {
    const open = more.getAttribute("aria-expanded") === "true";
    more.setAttribute("aria-expanded", String(!open));
    more.textContent = open ? "more" : "less";
    isolated.textContent = open ? shown : whole;
  });
  return [isolated, more];
}

function element(tag: string, attributes: { [name: string]: string }, text = ""): HTMLElement {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  return made;
}
