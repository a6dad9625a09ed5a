// What a question says in plain words.
//
// Pure. Must never promise what the bridge does not hold.

import type { Approval, ApprovalField } from "../../shared/protocol/generated/messages.ts";
import { isPageOrigin } from "../../shared/origins/origin.ts";
import { profileWords } from "../../shared/origins/profile.ts";
import { BROWSER_SCOPES, type BrowserScope } from "../../shared/protocol/in_tabs.ts";
import { type Scope, isOfTools } from "../../shared/protocol/peer.ts";
import type { AskedModel, AskedServer, QuestionView } from "../own.ts";
import type { Lack } from "../page_scopes.ts";

/** The state of a server in a question. `lazy`: a call starts it, unless the person has stopped it. */
export function stateWords(state: string, lazy = false): string {
  if (state === "running") return "running";
  if (state === "failed") return "failed";
  if (state === "starting" || state === "installing") return "starting";
  return lazy && state !== "crashed" ? "starts when used, unless you stopped it" : "not running";
}

/** Whether a server is ticked before the person has chosen: not where nothing of it can be used. */
export function isLeftIn(state: string): boolean {
  return state !== "failed";
}

/** Why nothing can be allowed. */
export const NOTHING_CHOSEN = "Nothing is ticked, so there is nothing to allow.";

/** So many names stand in the sentence; the others are counted. */
const MOST_NAMES = 4;

interface WishWords {
  words: string;
  names: string[];
  rest: string;
}

/** The sentence behind the site's address: what it wants, in words of ours, and the names, which are others'. */
export function wishWords({ scopes, servers, named, call, site, power }: Pick<QuestionView, "scopes" | "servers" | "named" | "call" | "site" | "power">): WishWords {
  if (site !== undefined && power === "scripts") return { words: "wants to run scripts of its own in your browser. It may read and do all that you can on ", names: [site], rest: ", passwords in fields included" };
  if (site !== undefined && power === "logins") return { words: "wants to read and change the cookies and the storage of a site in your browser. With these it can act as you at ", names: [site], rest: ", outside of this browser too" };
  if (site !== undefined && power === "bodies") return { words: "wants to read what pages in your browser ask of servers, and what these answer. There may be logins in it, with which it can act as you at ", names: [site], rest: "" };
  if (site !== undefined) return { words: "uses your browser, and wants to open ", names: [site], rest: "" };
  if (call !== undefined) return { words: actWords(call), names: [call.tool], rest: "" };
  const starts = scopes.includes("mcp:server.connect");
  const isOfTool = scopes.some(isOfTools);
  const plain = [modelWish(scopes), browserWish(scopes), starts && !isOfTool ? "to start your servers when it uses their tools" : undefined].filter((words) => words !== undefined);
  const ofModels = plain.length === 0 ? undefined : plain.join(", and ");
  if (!isOfTool) return { words: `wants ${ofModels}`, names: [], rest: "" };
  const wish = toolWish({ scopes, servers, named });
  const ofTools = starts ? { ...wish, rest: `${wish.rest}, and to start their servers` } : wish;
  if (ofModels === undefined) return ofTools;
  const runs = scopes.includes("model:tools") && /^wants to run (.+)$/s.exec(ofTools.words);
  if (runs) return { ...ofTools, words: `wants ${ofModels}, using ${(runs[1] ?? "").replace(/^(\d+) tools?/, "$1 of your tools")}` };
  return { ...ofTools, words: `wants ${ofModels}, and ${ofTools.words.replace(/^wants /, "")}` };
}

/** What each scope of tabs lets a site do. */
export const BROWSER_WORDS: { [scope in BrowserScope]: string } = {
  "browser:activeTab.read": "read its own page as you see it",
  "browser:activeTab.interact": "click, fill in and scroll in its own page",
  "browser:activeTab.screenshot": "take pictures of its own page",
  "browser:navigate": "lead its own tab to other addresses",
  "browser:tabs.read": "list the tabs that it has opened",
  "browser:tabs.create": "open tabs behind this one, and use them while they show this site",
};

/** What it means that a site may have servers started. */
export const STARTS_WORDS = "A server that does not run starts when the site calls a tool of it that it may use, and nobody asks you about that.";

/** Those of the browser. */
export const browserScopes = (scopes: Scope[]): BrowserScope[] => BROWSER_SCOPES.filter((scope) => scopes.includes(scope));

function browserWish(scopes: Scope[]): string | undefined {
  const [first, ...more] = browserScopes(scopes);
  if (first === undefined) return undefined;
  return `Harbor to ${more.length === 0 ? BROWSER_WORDS[first] : "use tabs for it"}`;
}

/** Where the browser has to be asked, too. */
export const LACK_WORDS: { [lack in Lack]: string } = {
  site: "If you allow it, your browser asks next whether Harbor may read this site. Without that yes it does not work.",
  pages: "If you allow it, your browser asks next whether Harbor may use pages. Without that yes it does not work.",
};

/** What it wants of models. */
function modelWish(scopes: Scope[]): string | undefined {
  const list = "to see which language models you have";
  const use = scopes.includes("model:tools") ? "your AI model to work for it" : scopes.includes("model:prompt") ? "to use your language model" : undefined;
  if (!scopes.includes("model:list")) return use;
  return use === undefined ? list : `${use} and ${list}`;
}

function toolWish({ scopes, servers, named }: Pick<QuestionView, "scopes" | "servers" | "named">): WishWords {
  if (!scopes.includes("mcp:tools.call")) return { words: "wants to see which tools you have", names: [], rest: "" };
  const names = named ? servers.flatMap(toolNames) : servers.map(({ label }) => label);
  if (names.length === 0) return { words: "wants to run your tools", names, rest: "" };
  const what = named ? `${names.length} ${names.length === 1 ? "tool" : "tools"}` : `all tools of ${names.length === 1 ? "a server" : `${names.length} servers`}`;
  const left = names.length - MOST_NAMES;
  return { words: `wants to run ${what}: `, names: names.slice(0, MOST_NAMES), rest: left > 0 ? ` and ${left} more` : "" };
}

function toolNames({ id, label, tools }: AskedServer): string[] {
  if (tools.some(({ name }) => name === `${id}/*`)) return [`everything of ${label}`];
  return tools.map(({ name }) => name.slice(id.length + 1));
}

/** Beside a tool, by what it does as far as Harbor knows. What only reads has no mark. */
export const EFFECT_MARKS: { [effect: string]: string } = { writes: "changes something", destroys: "may delete or overwrite" };

/** What each answer is called that allows a call. */
export const ANSWER_WORDS: { [answer: string]: string } = {
  once: "Allow this call",
  chat_tool: "Allow this tool in this chat",
  chat_server: "Allow this server in this chat",
  flow: "Allow this flow",
  pair: "Allow for this connection",
  ten_minutes: "Allow for 10 minutes",
  always: "Always allow",
};

/** Below an argument of which only the beginning is shown. */
export function cutWords(bytes: number | undefined): string {
  return bytes === undefined ? "Not all of it is shown." : `Only its beginning: it has ${bytes.toLocaleString("en")} bytes in all.`;
}

/** Whether there is more than is shown: of the value, of its key, or further arguments. */
export function isCut({ key, bytes }: ApprovalField): boolean {
  return bytes !== undefined || key === "…" || /… \(\d+ bytes\)$/.test(key);
}

/** Who acts in a call that is asked about: the first words of the sentence. */
export function callerWords({ who, principal }: Pick<Approval, "who" | "principal">): string {
  if (who === "chat") return "Your model";
  if (who === "server") return `${principal.replace(/^server:/, "")} (a server)`;
  return who === "client" ? `${principal.replace(/^client:\/\//, "")} (an AI app)` : principal;
}

/** The words behind that; the tool follows. */
export function actWords({ who, reason }: Pick<Approval, "who" | "reason">): string {
  if (reason === "plan") return "proposes a plan for its answer, by ";
  if (who === "server") return "wants an answer of your language model, by ";
  return who === "run" ? "has your language model work on a task. The model now wants to call " : "wants to call ";
}

/** Around the source that would be told something private; where that comes from follows. */
/** How files are named that a call would hand over. */
export const FILES_WORDS = "This would hand over: ";
export const LEAVES_WORDS = ["This would tell ", " something that comes from: "] as const;

/** Beside the box of a no that is for good. */
export const NEVER_WORDS = "Never ask again about this for this app.";

/** What allowing means. */
function callWords({ who, reason, tool }: Approval): string {
  const source = tool.slice(0, tool.indexOf("/"));
  if (reason === "first_use") return `You have not let this app use ${source} yet. For 10 minutes, or always, it may call all tools of ${source}; what may delete something still asks.`;
  if (reason === "starts") return `${source} is stopped. “Allow this call” starts it, and it runs until you stop it. “Always allow” lets calls of this caller start your servers from now on.`;
  if (reason === "reading") return "“Allow this call” is for this page and this question. “Always allow” lets this app ask your language models whatever it likes, within its budget.";
  const whose = who === "page" ? "The site chose these arguments. " : who === "client" ? "" : "The model chose these arguments. ";
  return `${whose}“Allow this call” is for this one call, exactly as it stands here.`;
}

/** What allowing means. */
export function meansWords({ origin, profile, scopes, call, site, power }: Pick<QuestionView, "scopes" | "call" | "site" | "power" | "profile"> & { origin?: string }): string {
  if (power === "logins") return "Cookies are your login: whoever has them needs no password, also where sites share one login. Your answer holds for this app on this site, until the browser or Harbor ends.";
  if (power === "bodies") return "Nothing is kept before your yes. Your answer holds for this app on this site, until the browser or Harbor ends.";
  if (power === "scripts") return "Your answer holds for this app on this site, until the browser or Harbor ends. Where its scripts have run, the page cannot use Harbor until it is loaded anew.";
  if (site !== undefined && origin !== undefined && isPageOrigin(origin)) return "You wanted to be asked about this site (askFirst in config.toml). The page that asks opens it in a tab, and reads nothing there. Your answer holds for this page's site, until the browser or Harbor ends.";
  if (site !== undefined) return "You wanted to be asked about this site (askFirst in config.toml). Your answer holds while this app works in your browser. If you allow it, it reads and acts there as you, where you are signed in.";
  if (call !== undefined) return callWords(call);
  const runs = scopes.includes("mcp:tools.call");
  const who = scopes.includes("model:tools") ? (runs ? "The site and your model" : "Your model") : "The site";
  const sees = "The site sees what they say about themselves and what they answer.";
  return [
    scopes.includes("model:prompt") && !scopes.includes("model:tools") ? "The site sends texts to this model and reads its answers." : undefined,
    runs || scopes.includes("model:tools") ? `${who} may run the ticked tools with any data. ${sees}` : scopes.some(isOfTools) ? "The site sees which of these tools you have and what they say about themselves." : undefined,
    scopes.includes("mcp:server.connect") ? STARTS_WORDS : undefined,
    browserScopes(scopes).length > 0 ? "Harbor acts for the site in the site's own pages only, and leaves password, code and card fields alone." : undefined,
    scopes.includes("model:list") ? "The site sees the names of your models and of who runs them." : undefined,
    profile === undefined ? undefined : `Your answer holds in ${profileWords(profile)} of your browser alone.`,
  ].flatMap((words) => words ?? []).join(" ");
}

/** Where a model runs now, and what that means for what a site writes. What is allowed is the default model, whichever that is then. The provider's name is the person's own. */
export function placeWords(here: boolean): readonly [string, string] {
  return here
    ? ["on this machine (", "): what the site writes stays here, until you choose another default model."]
    : ["at ", ": what the site writes is sent there, or to the default model that you choose later."];
}

/** What the site has used of a model today, and may use. */
export function budgetWords({ used, budget }: Pick<AskedModel, "used" | "budget">): string {
  const today = `Used today: ${used.toLocaleString("en")}`;
  return budget === undefined ? `${today} tokens. There is no limit; you can set one in Harbor's panel.` : `${today} of ${budget.toLocaleString("en")} tokens.`;
}

/** Where there is no model. */
export const NO_MODEL = "You have no language model yet. Add one with `harbor models add`; the site then uses that one.";

/** The button in the middle. */
export function onceButton(seconds: number | undefined): string {
  return `Allow for ${seconds === undefined ? "a short time" : durationWords(seconds)}`;
}

/** Below the buttons: how long each of them holds. */
export function onceWords(seconds: number | undefined): string {
  const time = seconds === undefined ? "A short time" : durationWords(seconds);
  return `${time}: in this tab only. Always: until you revoke it.`;
}

function durationWords(seconds: number): string {
  const [size, unit] = seconds % 3_600 === 0 ? [3_600, "hour"] : seconds % 60 === 0 ? [60, "minute"] : [1, "second"];
  const many = seconds / Number(size);
  return `${many} ${unit}${many === 1 ? "" : "s"}`;
}

/** Beside the box for all tools of a server. */
export function everyWords({ tools, list, unlisted = 0 }: AskedServer): string {
  if (list !== undefined) return "all its tools, including ones it adds later";
  const many = tools.length - 1 + unlisted;
  if (many === 0) return "no tools yet, all that it adds later";
  return `${many === 1 ? "its 1 tool" : `all ${many} tools`}, and ones it adds later${effectsWords(tools)}`;
}

/** How many of the tools that are listed do more than read. */
function effectsWords(tools: AskedServer["tools"]): string {
  const many = (effect: string) => tools.filter((tool) => tool.effect === effect).length;
  const [writes, destroys] = [many("writes"), many("destroys")];
  const said = [writes === 0 ? "" : `${writes} change${writes === 1 ? "s" : ""} something`, destroys === 0 ? "" : `${destroys} may delete`];
  const words = said.filter((one) => one !== "").join(", ");
  return words === "" ? "" : ` (${words})`;
}

/** Of a server whose tools are not known. */
export function listWords(list: "awaited" | "missing", named: boolean): string {
  const words = list === "awaited" ? "It has not said yet which tools it has" : "It does not say now which tools it has";
  return named ? `${words}: these names are the site's.` : `${words}.`;
}

/** Of a server with more tools than are listed. */
export function unlistedWords(unlisted: number): string {
  return `${unlisted} more ${unlisted === 1 ? "tool is" : "tools are"} not listed here. Only “all” includes ${unlisted === 1 ? "it" : "them"}.`;
}

/** Above many servers: how much of them is ticked. */
export function countWords({ servers, tools, ticked, of }: { servers: number; tools: number; ticked: number; of: number }): string {
  if (ticked === 0) return `${servers} servers, ${tools} tools. Nothing is ticked.`;
  return `Ticked: ${ticked} of ${tools} tools, in ${of} of ${servers} servers.`;
}

/** Of servers that cannot be used now. */
export const FAILED_WORDS = ["Not shown, because they failed: ", ". This allows nothing of them."] as const;

/** What is further down than the window shows. */
export function belowWords(rows: number): string {
  return rows === 0 ? "More below" : `${rows} more to choose below`;
}

/** Around the names that the site asks for and a server does not have. */
export const STRANGE_WORDS = ["The site also asks for names that ", " does not have: "] as const;

/** Around the servers that it asks for and that are not there. */
export const MISSING_WORDS = ["The site also asks for ", ", which is not installed here. Install it first: your answer here does not allow its tools."] as const;

/** Above tools that have changed. */
export const FLAGGED_WORDS = "Check first: changed since you accepted them, so not ticked";
