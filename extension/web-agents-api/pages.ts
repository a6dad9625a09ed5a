// What becomes of a page's request: what is looked at here, what goes on to `harbor`, and what a page is told.
//
// Owns the way of each request. Must never send `harbor` a field that it did not make or read itself.

import type { PageDocument } from "../shared/origins/senders.ts";
import type { Context, Handler } from "../shared/ports/answerer.ts";
import type { Caller } from "../shared/ports/caller.ts";
import { relayed } from "../shared/ports/relay.ts";
import type { Fields } from "../shared/ports/wire.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import { type BrowserFlag, type BrowserScope, type BrowserWish, parseBrowser } from "../shared/protocol/in_tabs.ts";
import { NOBODY } from "../shared/protocol/page.ts";
import {
  type About,
  type AskedAnswer,
  type Asker,
  type CallRequest,
  type ListAnswer,
  type ModelState,
  type PermissionsAnswer,
  type PermissionsView,
  type Scope,
  isScope,
  parseCall,
  parseGesture,
  parsePrompt,
  parseWish,
} from "../shared/protocol/peer.ts";
import { Clicks } from "./clicks.ts";
import { Asks, OwnRun } from "./own_runs.ts";
import { parseAnswer, parseOwn, parseRun, parseSession, parseSessionId } from "../shared/protocol/runs.ts";
import { FLAG_NAMES, type Flags, NOT_HERE, checkFlags, scopesOn } from "./flags.ts";

/** What `capabilities()` says. */
export interface Capabilities {
  version: string;
  /** Whether Harbor answers; else, or where what is below is not whole, why. */
  harbor: { connected: boolean; code?: string; message?: string };
  tools: { available: boolean; count: number; servers: string[] };
  permissions: PermissionsView["scopes"] | Record<never, never>;
  allowedTools?: string[];
  /** Whether this page can ask a model now, and have it do tasks with tools. */
  model: { available: boolean };
  runs: { available: boolean };
  /** What Harbor does for it in tabs now. */
  browser: { readActiveTab: boolean; interact: boolean; screenshot: boolean; navigate: boolean; readTabs: boolean; createTabs: boolean };
  /** Which parts of the API there are for pages: of this version, as the person has set it here and in Harbor's configuration. */
  features: Flags & typeof NOT_HERE;
}

const isNobody = (error: unknown): error is CodedError => error instanceof CodedError && NOBODY.some((code) => code === error.code);

/** How a page stands to models. `alone`: nobody has answered, and what there is to do. */
export type PageModelState = ModelState & { alone?: { code: string; message: string } };

type Peer = Pick<Caller, "call">;

type Document = PageDocument & { document: string };

/**
 * The handler of one document's requests. `granted`: is told of an origin that has just been allowed something. `openSettings`: shows the
 * person where providers are added.
 */
export function handlerFor(
  page: Document,
  harbor: Peer,
  flags: () => Promise<Flags>,
  granted: (origin: string) => Promise<void>,
  openSettings: () => Promise<void>,
): Handler {
  const clicks = new Clicks();
  const about = new Known();
  const asks = new Asks();
  const asker = askerOf(page);
  return async (type, payload, context) => {
    const { signal } = context;
    const now = await flags();
    const check = () => checkFlags(type, payload, now);
    await (type === "browser" ? about.orNobody(harbor, asker, signal, check) : check());
    switch (type) {
      case "request_permissions":
        return requestPermissions(page, payload, { harbor, flags: now, granted, clicks, about }, signal);
      case "permissions":
      case "list":
        return harbor.call(type, { ...asker }, { signal });
      case "capabilities":
        return capabilities(page, harbor, now, about, signal);
      case "call":
        return call(asker, harbor, payload, context);
      case "run":
        if (payload["own"] !== undefined) return ownRun(payload, { asker, harbor, flags: now, about, asks }, context);
        return harbor.call(type, { ...asker, ...parseRun(payload) }, relayed(context));
      case "run_answer":
        return asks.answered(parseAnswer(payload));
      case "session_create":
        return harbor.call(type, { ...asker, ...parseSession(payload) }, { signal });
      case "session_get":
      case "session_end":
        return harbor.call(type, { ...asker, ...parseSessionId(payload) }, { signal });
      case "session_list":
        return harbor.call(type, { ...asker }, { signal });
      case "prompt":
        return harbor.call(type, { ...asker, ...parsePrompt(payload) }, relayed(context));
      case "browser":
        return harbor.call(type, { ...asker, ...ofPage(page, parseBrowser(payload)) }, { signal });
      case "model_state":
        return modelState(page, harbor, now, signal);
      case "providers":
      case "active_provider":
        return harbor.call(type, { ...asker }, { signal });
      case "open_settings":
        clicks.forSettings(parseGesture(payload["gesture"]));
        return openSettings();
      default:
        throw new CodedError("ERR_INVALID_REQUEST", "there is no request of this type");
    }
  };
}

/** A frame may stand in another site's page, and be shut off from leading it and from opening windows: only the page itself does that. */
function ofPage({ frame }: Document, wish: BrowserWish): BrowserWish {
  const isOfPage = wish.act === "tabsCreate" || (wish.tabId === undefined && (wish.act === "navigate" || wish.act === "waitForNavigation"));
  if (frame !== 0 && isOfPage) throw new CodedError("ERR_PERMISSION_DENIED", "a frame leads no page, and opens no tab: the page itself may");
  return wish;
}

const askerOf = ({ origin, tab, profile }: Document): Asker => ({ origin, tab, ...(profile === undefined ? {} : { profile }) });

/** Where nobody answers, or the person has switched it off here, there is no model. A frame cannot ask for one. */
async function modelState(page: Document, harbor: Peer, flags: Flags, signal: AbortSignal): Promise<PageModelState> {
  if (!flags.textGeneration) return { state: "unavailable" };
  const { frame, document } = page;
  try {
    const found = (await harbor.call("model_state", { ...askerOf(page), document }, { signal })) as ModelState;
    return frame !== 0 && found.state.startsWith("download") ? { state: "unavailable", denied: true } : found;
  } catch (error) {
    if (isNobody(error)) return { state: "unavailable", alone: { code: error.code, message: error.message } };
    throw error;
  }
}

/** How long what `harbor` says of its configuration is taken as said: a page asks what there is, and then for it. */
const RECENT_MS = 2_000;

/** What `harbor` has said last. */
class Known {
  #about: { off: string[]; at: number } | undefined;

  async now(harbor: Peer, asker: Asker, signal: AbortSignal): Promise<About> {
    const about = (await harbor.call("about", { ...asker }, { signal })) as About;
    this.#about = { off: about.off, at: performance.now() };
    return about;
  }

  /** What `check` throws; without Harbor, that nobody answers: to switch on what is off at first would change nothing. */
  async orNobody(harbor: Peer, asker: Asker, signal: AbortSignal, check: () => void): Promise<void> {
    try {
      check();
    } catch (off) {
      await this.off(harbor, asker, signal).catch((error: unknown) => {
        if (isNobody(error)) throw error;
      });
      throw off;
    }
  }

  /** What is switched off, by what was said a moment ago. */
  async off(harbor: Peer, asker: Asker, signal: AbortSignal): Promise<string[]> {
    const known = this.#about;
    return known !== undefined && performance.now() - known.at < RECENT_MS ? known.off : (await this.now(harbor, asker, signal)).off;
  }
}

/** What a request for permissions works with. */
interface Asking {
  harbor: Peer;
  flags: Flags;
  granted: (origin: string) => Promise<void>;
  clicks: Clicks;
  about: Known;
}

async function requestPermissions(page: Document, payload: Fields, parts: Asking, signal: AbortSignal): Promise<PermissionsAnswer> {
  // A frame may use what its origin was allowed. A person could not tell who asks.
  if (page.frame !== 0) throw new CodedError("ERR_PERMISSION_DENIED", "a frame inside a page may not ask; its top page may");
  const { harbor, flags, about } = parts;
  const asker = askerOf(page);
  const { scopes: names, ...wish } = parseWish(payload);
  const here = scopesOn(names.filter(isScope), flags);
  // Nobody is asked for what does not exist.
  if (here.length === 0) return without(names, (await harbor.call("permissions", { ...asker }, { signal })) as PermissionsView);
  const scopes = scopesOn(here, onIn(flags, await about.off(harbor, asker, signal)));
  const left = names.filter((name) => !scopes.some((scope) => scope === name));
  const answer = await askPerson({ ...asker, document: page.document, ...wish, scopes }, parseGesture(payload["gesture"]), parts, signal);
  return left.length === 0 ? answer : without(left, answer);
}

async function askPerson(wish: Asker & { document: string; scopes: Scope[] }, click: number, { harbor, granted, clicks }: Asking, signal: AbortSignal): Promise<PermissionsAnswer> {
  const { gesture, none } = clicks.forQuestion(click);
  const { asked, ...answer } = (await harbor.call("request_permissions", { ...wish, gesture }, { signal })) as AskedAnswer;
  if (!asked) none();
  // Before the page hears of it, so that frames which it makes then have the API.
  if (answer.granted) await granted(wish.origin);
  return answer;
}

/** An answer that says of each of these names that nobody can allow it now. */
function without(names: string[], { scopes, ...view }: PermissionsView): PermissionsAnswer {
  const words = names.map((name) => [name, "unavailable"]);
  return { ...view, granted: false, scopes: Object.fromEntries([...Object.entries(scopes), ...words]) as PermissionsView["scopes"] };
}

/** What a run with the page's own tools works with. */
interface OwnParts {
  asker: Asker;
  harbor: Peer;
  flags: Flags;
  about: Known;
  asks: Asks;
}

async function ownRun(payload: Fields, { asker, harbor, flags, about, asks }: OwnParts, context: Context): Promise<unknown> {
  const wish = { ...parseRun(payload), own: parseOwn(payload["own"]) };
  if (wish.tools !== undefined || wish.useAllTools === true || wish.requireCitations === true || wish.sessionId !== undefined) {
    throw new CodedError("ERR_INVALID_REQUEST", "a run with the page's own tools has no others, no session and no citations");
  }
  // The bridge looks at prompts only; that this is a run is known here.
  checkFlags("own_run", {}, flags);
  checkFlags("run", {}, onIn(flags, await about.off(harbor, asker, context.signal)));
  return new OwnRun(asker, harbor, context, asks, wish).run(wish);
}

/** What is on here and in Harbor's configuration, too. */
function onIn(flags: Flags, off: string[]): Flags {
  return Object.fromEntries(FLAG_NAMES.map((name) => [name, flags[name] && !off.includes(name)])) as unknown as Flags;
}

function call(asker: Asker, harbor: Peer, payload: Fields, { signal, progress }: Context): Promise<unknown> {
  const wanted = payload["progress"] === true;
  const request: CallRequest = { ...asker, ...parseCall(payload), progress: wanted };
  return harbor.call("call", { ...request }, { signal, onProgress: wanted ? progress : undefined });
}

async function capabilities(page: Document, harbor: Peer, features: Flags, known: Known, signal: AbortSignal): Promise<Capabilities> {
  const asker = askerOf(page);
  const found: Capabilities = {
    version: __VERSION__,
    harbor: { connected: true },
    tools: { available: false, count: 0, servers: [] },
    permissions: {},
    model: { available: false },
    runs: { available: false },
    browser: { readActiveTab: false, interact: false, screenshot: false, navigate: false, readTabs: false, createTabs: false },
    features: { ...features, ...NOT_HERE },
  };
  try {
    const [view, about] = await Promise.all([harbor.call("permissions", { ...asker }, { signal }), known.now(harbor, asker, signal)]);
    const { scopes, allowedTools } = view as PermissionsView;
    const { model, off } = about;
    const on = onIn(features, off);
    const may = (...all: Scope[]) => model && on.textGeneration && all.every((scope) => scopes[scope].startsWith("granted"));
    found.features = { ...on, ...NOT_HERE };
    found.model = { available: may("model:prompt") };
    found.runs = { available: on.agentRuns && may("model:prompt", "model:tools", "mcp:tools.call") };
    const inTabs = (scope: BrowserScope, flag: BrowserFlag) => on[flag] && scopes[scope].startsWith("granted");
    const isPage = page.frame === 0;
    found.browser = {
      readActiveTab: inTabs("browser:activeTab.read", "browserInteraction"),
      interact: inTabs("browser:activeTab.interact", "browserInteraction"),
      screenshot: inTabs("browser:activeTab.screenshot", "screenshots"),
      navigate: isPage && inTabs("browser:navigate", "browserControl"),
      readTabs: inTabs("browser:tabs.read", "browserControl"),
      createTabs: isPage && inTabs("browser:tabs.create", "browserControl"),
    };
    found.permissions = scopes;
    if (allowedTools !== undefined) found.allowedTools = allowedTools;
    if (!found.features.toolAccess || !scopes["mcp:tools.list"].startsWith("granted")) return found;
    const tools = (await harbor.call("list", { ...asker }, { signal })) as ListAnswer;
    const servers = [...new Set(tools.map((tool) => tool.serverId))];
    found.tools = { available: tools.length > 0, count: tools.length, servers };
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    found.harbor = { connected: !isNobody(error), code: error.code, message: error.message };
  }
  return found;
}
