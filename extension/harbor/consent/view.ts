// Builds the page of a question, element by element.
//
// Owns what stands where, and which boxes are ticked. Foreign text goes through `foreign`, which makes it visible, and into
// textContent; nothing is ever parsed as HTML. Must never answer anything: consent.ts does.

import { isOfTools } from "../../shared/protocol/peer.ts";
import type { AskedServer, QuestionView } from "../own.ts";
import { element, foreign } from "./elements.ts";
import { browserPart, callPart, modelPart, sitePart, startsPart, wholeParts } from "./model_part.ts";
import { flaggedOf, flaggedPart, serverPart } from "./server_part.ts";
import { type Ticks, chosenOf, everyOf, everyState, singlesOf, ticksOf, turned } from "./ticks.ts";
import { ANSWER_WORDS, FAILED_WORDS, MISSING_WORDS, NEVER_WORDS, belowWords, browserScopes, callerWords, countWords, isLeftIn, meansWords, onceButton, onceWords, wishWords } from "./words.ts";

/** An element of the page. */
export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

let servers: AskedServer[] = [];
let ticks: Ticks = new Map();
/** Servers whose single tools the person has opened. */
const opened = new Set<string>();
/** More servers than these are one line at first, which says how much is ticked. */
const MANY = 5;
/** Whether the person has opened all of them. */
let allOpen = false;
/** Each part as it was drawn last. */
const drawn = new Map<HTMLElement, string[]>();

/** Puts a question into the page, or what it has become: what is the same stays as it is, and so do the person's ticks. */
export function show(question: QuestionView): void {
  const asker = question.call === undefined ? question.origin : callerWords(question.call);
  document.title = `Harbor: ${asker} asks`;
  part("origin").textContent = asker;
  // What has failed can be given nothing; where the site has named it, that is said beside its name.
  const works = (server: AskedServer) => question.named || isLeftIn(server.state);
  const { words, names, rest } = wishWords({ ...question, servers: question.servers.filter(works) });
  const apart = names.flatMap((name, at) => [...(at === 0 ? [] : [document.createTextNode(", ")]), ...foreign(name)]);
  part("wish").replaceChildren(words, ...apart, rest);
  if (question.reason !== undefined && question.reason !== "") {
    part("reason-part").hidden = false;
    part("reason").replaceChildren(...foreign(question.reason));
  }
  part("means").textContent = meansWords(question);
  part("once").textContent = question.site !== undefined ? "Allow this site" : onceButton(question.onceSeconds);
  part("once-note").textContent = onceWords(question.onceSeconds);
  const { model, call, site, lack } = question;
  const ofTabs = browserScopes(question.scopes);
  const isSingle = call !== undefined || site !== undefined;
  const tabs = ofTabs.length === 0 ? [] : [{ of: [ofTabs, lack], make: () => browserPart(ofTabs, lack) }];
  const starts = question.scopes.includes("mcp:server.connect") && !question.scopes.some(isOfTools) ? [{ of: "starts", make: startsPart }] : [];
  const about = [...tabs, ...starts, ...(model === undefined ? [] : [{ of: model, make: () => modelPart(model) }]), ...(call === undefined ? [] : [{ of: call, make: () => callPart(call) }]), ...(site === undefined ? [] : [{ of: site, make: () => sitePart(site) }])];
  draw(part("model"), about);
  part("always").hidden = isSingle;
  part("once-note").hidden = isSingle;
  (part("remember").closest("label") as HTMLElement).hidden = isSingle;
  if (call !== undefined) offer(call.answers);
  const ofTools = question.scopes.some(isOfTools);
  servers = question.servers.filter(works);
  const isMany = ofTools && servers.length > MANY;
  part("many").hidden = !isMany;
  part("servers").hidden = !ofTools || (isMany && !allOpen);
  const failed = question.servers.filter((server) => !works(server)).map(({ label }) => label);
  part("failed").hidden = failed.length === 0 || !ofTools;
  part("failed").replaceChildren(FAILED_WORDS[0], ...foreign(failed.join(", ")), FAILED_WORDS[1]);
  ticks = ticksOf(servers, ticks);
  const flagged = flaggedOf(servers);
  draw(part("flagged"), flagged.length === 0 ? [] : [{ of: flagged, make: () => flaggedPart(flagged) }]);
  const none = () => element("p", {}, "You have no servers yet. Add one in Harbor's panel, or with `harbor install`.");
  const parts = servers.map((server) => ({ of: server, make: () => serverPart(server, opened.has(server.id)) }));
  draw(part("servers"), parts.length === 0 ? [{ of: "none", make: none }] : parts);
  const { missing = [] } = question;
  part("missing").hidden = missing.length === 0;
  part("missing").replaceChildren(MISSING_WORDS[0], ...foreign(missing.join(", ")), MISSING_WORDS[1]);
  tick();
  edge();
}

/** Puts the answers of a question about a call on the buttons, the mildest first. */
function offer(answers: string[]): void {
  const yeses = answers.filter((answer) => answer in ANSWER_WORDS);
  const places = yeses.length > 2 ? ["once", "while", "always"] : ["once", "always"];
  for (const [at, place] of places.entries()) {
    const [button, answer] = [part(place), yeses[at]];
    button.hidden = answer === undefined;
    if (answer === undefined) continue;
    button.dataset["answer"] = answer;
    button.textContent = ANSWER_WORDS[answer] ?? answer;
  }
  const label = part("remember").closest("label") as HTMLElement;
  label.hidden = !answers.includes("never");
  (label.lastElementChild as HTMLElement).textContent = NEVER_WORDS;
}

/** Replaces the parts that are not of what they were, with the focus where it was. */
function draw(place: HTMLElement, parts: { of: unknown; make(): HTMLElement }[]): void {
  const before = drawn.get(place) ?? [];
  const after = parts.map(({ of }) => JSON.stringify(of));
  drawn.set(place, after);
  const held = place.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
  if (before.length !== after.length) place.replaceChildren(...parts.map(({ make }) => make()));
  else for (const [at, { make }] of parts.entries()) if (before[at] !== after[at]) place.children[at]?.replaceWith(make());
  if (held === undefined || held.isConnected) return;
  const boxes = [...document.querySelectorAll<HTMLElement>("input[data-tool]")];
  (boxes.find((box) => box.dataset["tool"] === held.dataset["tool"]) ?? part("question")).focus();
}

/** Brings all boxes into the state that the ticks say. */
function tick(): void {
  for (const box of document.querySelectorAll<HTMLInputElement>("input[data-tool]")) {
    const name = box.dataset["tool"] ?? "";
    const server = servers.find(({ id }) => name === everyOf(id));
    const state = server === undefined ? undefined : everyState(server, ticks);
    box.checked = state === undefined ? ticks.get(name) === true : state === "on";
    box.indeterminate = state === "some";
  }
  const on = servers.map((server) => singlesOf(server).filter(({ name }) => ticks.get(name) === true).length);
  const tools = servers.reduce((sum, server) => sum + singlesOf(server).length, 0);
  part("counts").textContent = countWords({ servers: servers.length, tools, ticked: on.reduce((sum, many) => sum + many, 0), of: on.filter((many) => many > 0).length });
}

/** Puts the arguments of the call that is shown there whole, or why that is not possible. */
export function showWhole(text: string): void {
  part("model").querySelector(".call")?.append(...wholeParts(text));
  for (const button of document.querySelectorAll<HTMLElement>("button[data-whole]")) button.hidden = true;
  edge();
}

/** The tools that the person has left in, besides those that are allowed already. */
export function chosen(): string[] {
  return chosenOf(servers, ticks);
}

/** Whether a yes means something: some tool is ticked, or it is about something else than tools. */
export function hasYes(): boolean {
  return chosen().length > 0 || part("model").childElementCount > 0;
}

/** Says how much of the list is further down than the window shows. */
function edge(): void {
  const main = part("question");
  const below = part("below");
  below.hidden = main.scrollTop + main.clientHeight >= main.scrollHeight - 8;
  // The bar lies over the end of the list.
  const end = below.hidden ? main.getBoundingClientRect().bottom : below.getBoundingClientRect().top;
  // What is there to choose is a box, and not what the server says below it.
  const isHidden = (box: HTMLElement) => box.getClientRects().length > 0 && box.getBoundingClientRect().bottom > end;
  const hidden = [...main.querySelectorAll<HTMLElement>("input[data-tool]:enabled")].filter(isHidden);
  below.textContent = belowWords(hidden.length);
}

part("question").addEventListener("change", ({ target }) => {
  const name = (target as HTMLElement).dataset["tool"];
  if (name === undefined) return;
  ticks = turned(servers, ticks, name);
  tick();
});
part("open-servers").addEventListener("click", () => {
  allOpen = !allOpen;
  part("open-servers").setAttribute("aria-expanded", String(allOpen));
  part("servers").hidden = !allOpen;
  edge();
});
part("servers").addEventListener("click", ({ target }) => {
  const button = (target as HTMLElement).closest<HTMLElement>("button[data-opens]");
  const id = button?.dataset["opens"];
  if (button === null || id === undefined) return;
  if (!opened.delete(id)) opened.add(id);
  const open = opened.has(id);
  button.setAttribute("aria-expanded", String(open));
  (button.closest(".server")?.querySelector(".singles") as HTMLElement).hidden = !open;
  edge();
});
part("question").addEventListener("click", edge);
part("question").addEventListener("scroll", edge, { passive: true });
window.addEventListener("resize", edge);
part("below").addEventListener("click", () => part("question").scrollBy({ top: part("question").clientHeight * 0.8 }));
