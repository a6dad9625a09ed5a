// Serves the sidebars that are open: what they show, pushed as it changes, and the requests that they may make.
//
// Owns who of them follows which log. Must never be given a port that is not of sidebar.html: they speak for the person.

import type { Port } from "../../shared/browser/api.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import type { Cause, Reason, State } from "../../shared/native/reconnect.ts";
import { type Context, answer } from "../../shared/ports/answerer.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Pushes, Server } from "../../shared/protocol/generated/messages.ts";
import type { BrowserToolsChange, BrowserToolsView } from "../browser/switch.ts";
import { parseChange } from "../browser/switch.ts";
import { hostsOf } from "../page/hosts.ts";
import { PAGE_TOOLS, type PageToolsChange, type PageToolsView, parsePageToolsChange } from "../page_source/view.ts";
import { type PageFlags, parseFlagChange } from "../page_flags.ts";
import { parseAllowed } from "./allowed.ts";
import { CLIENT_TOOLS, type ClientTools, parseClientTools, toolsOf } from "./clients.ts";
import type { Site } from "./site.ts";

/** What the sidebar is told of the connection. */
export interface BridgeView {
  state: State["is"];
  /** Why there is none, and what to do. */
  message?: string;
  cause?: Cause;
  /** Where versions do not fit: which end is older, if that is known. */
  older?: Reason["older"];
  version?: string;
}

/** What is pushed to the sidebar: of the bridge's own pushes these, and besides them the connection and the servers. */
export interface SidebarPushes extends Pick<Pushes, "server_log" | "grant_changed" | "tools_changed" | "tool_changed" | "approval" | "chat_event"> {
  bridge: BridgeView;
  servers: { servers: Server[] };
  /** What a server asks the person during a turn. */
  chat_ask: ServerAsk;
  /** The page beside it; empty where there is none. */
  site: { site?: Site };
  /** A page has called a tool, or the person has answered one: the audit log has more. */
  activity: Fields;
  /** A client has opened or closed a tab, or has done something in one. */
  browser: BrowserToolsView;
  /** The tools of the page in a tab are others, or are switched. */
  page_tools: PageToolsView;
}

/** A server's question in a turn of a chat. */
export interface ServerAsk extends Pick<Pushes["ask"], "ask_id" | "server_id" | "method" | "params"> {
  session_id: string;
}

/** What the panel can answer during a turn, as MCP's client capabilities. */
const ANSWERS = { elicitation: { form: {} } };

/** What the sidebar asks of the background itself: to be told which page is shown in its window. */
export const WATCH_SITE = "watch_site";

/** And to open the options of `web-agents-api`: what pages may ask for at all. */
export const PAGE_OPTIONS = "page_options";

/** And how the switches for all pages are: turns one with `flag` and `on`. */
export const PAGE_FLAGS = "page_flags";

/** And whether AI clients may use this browser, with what they have open: switches it with `on`, ends a session with `stop`. */
export const BROWSER_TOOLS = "browser_tools";

/** And which sites the person wants kept from tools; empty where the bridge does not say. */
export const PAGE_HOSTS = "page_hosts";

/** How long calls are gathered before the sidebar hears of them. */
const ACTIVITY_MS = 250;

type Bridge = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state" | "greeting">;

/** What `web-agents-api` and the rest of the background know and do. */
export interface Pages {
  /** The page that a window shows. */
  siteIn(windowId: number): Promise<Site | undefined>;
  openOptions(): Promise<void>;
  /** Reads what pages may ask for at all, or changes it as `change` says. Gives the setting that holds now. */
  pageFlags(change: ReturnType<typeof parseFlagChange>): Promise<{ flags: PageFlags }>;
  /** Reads if AI clients may use this browser, or changes it as `change` says. Gives the setting that holds now. */
  browserTools(change: BrowserToolsChange): Promise<BrowserToolsView>;
  /** Reads how many tools the page of a tab has, or switches them as `change` says. Gives the setting that holds now. */
  pageTools(change: PageToolsChange): Promise<PageToolsView>;
  /** A question about a call is answered here: it needs no window any more. */
  answered(approvalId: string): void;
  /** A chat is shown in a panel, or in none any more. */
  chatShown(session: string): void;
  chatLeft(session: string): void;
}

interface Sidebar {
  push(type: keyof SidebarPushes, payload: Fields): void;
  /** Servers whose logs it follows. */
  following: Set<string>;
  /** Chats that it follows. */
  watching: Set<string>;
  /** Its window, where it wants to know the page beside it. */
  windowId: number | undefined;
}

export function viewOfBridge({ state, greeting }: Pick<Bridge, "state" | "greeting">): BridgeView {
  const view: BridgeView = { state: state.is };
  if (state.is === "waiting" || state.is === "failed") {
    view.message = state.reason.message;
    view.cause = state.reason.cause;
    if (state.reason.older !== undefined) view.older = state.reason.older;
  }
  if (greeting !== undefined) view.version = greeting.bridge_version;
  return view;
}

export class Sidebars {
  readonly #bridge: Bridge;
  readonly #pages: Pages;
  readonly #open = new Set<Sidebar>();
  #activityDue = false;
  /** Whether the list of servers is being read, and has changed meanwhile. */
  #telling: "no" | "yes" | "again" = "no";

  constructor(bridge: Bridge, pages: Pages) {
    this.#bridge = bridge;
    this.#pages = pages;
    bridge.onState(() => this.#tellBridge());
    bridge.onPush((type, fields) => this.#heard(type, fields));
  }

  serve(port: Port): void {
    const following = new Set<string>();
    const push = answer(port, (type, payload, context) => this.#ask(sidebar, type, payload, context), { open: 32 });
    const sidebar: Sidebar = { push, following, windowId: undefined, watching: new Set() };
    this.#open.add(sidebar);
    // Before it is told anything: it wants a connection, and what it says where there is none would come and go under the mouse.
    const stopWatching = this.#bridge.watch();
    push("bridge", { ...viewOfBridge(this.#bridge) });
    this.#begin();
    port.onDisconnect(() => {
      this.#open.delete(sidebar);
      for (const server_id of following) void this.#unfollow(server_id);
      for (const session_id of sidebar.watching) this.#unwatch(session_id);
      stopWatching();
    });
  }

  /** Another page is shown in this window, or the tab has gone on to another one. */
  async pageShown(windowId: number): Promise<void> {
    if (![...this.#open].some((sidebar) => sidebar.windowId === windowId)) return;
    const site = await this.#pages.siteIn(windowId);
    for (const sidebar of this.#open) if (sidebar.windowId === windowId) sidebar.push("site", site === undefined ? {} : { site });
  }

  /** A page has called, or was answered. Many at once are told as one. */
  acted(): void {
    if (this.#activityDue || this.#open.size === 0) return;
    this.#activityDue = true;
    setTimeout(() => {
      this.#activityDue = false;
      for (const { push } of this.#open) push("activity", {});
    }, ACTIVITY_MS);
  }

  /** A server asks during a turn: panels that show the chat have a form. Where none does it hears at once that nobody is there. */
  #asked(session_id: string, { ask_id, server_id, method, params }: Pushes["ask"]): void {
    const shown = [...this.#open].filter(({ watching }) => watching.has(session_id));
    for (const { push } of shown) push("chat_ask", { session_id, ask_id, server_id, method, params });
    if (shown.length === 0) this.#bridge.request("mcp_answer", { ask_id, result: { action: "cancel" } }).catch(() => undefined);
  }

  /** What clients do in this browser has changed. */
  tellBrowser(view: BrowserToolsView): void {
    for (const { push } of this.#open) push("browser", { ...view });
  }

  /** What the page of a tab offers has changed. */
  tellPageTools(view: PageToolsView): void {
    for (const { push } of this.#open) push("page_tools", { ...view });
  }

  #tellBridge(): void {
    for (const { push } of this.#open) push("bridge", { ...viewOfBridge(this.#bridge) });
    this.#begin();
  }

  /** Begins the events of this connection, where somebody looks. */
  #begin(): void {
    if (this.#bridge.state.is !== "ready" || this.#open.size === 0) return;
    // Where it fails the connection is lost, and the next one begins anew.
    this.#bridge.request("host_watch", {}).catch(() => undefined);
    void this.#tellServers();
  }

  #heard(type: string, fields: Fields): void {
    if (this.#open.size === 0) return;
    if (type === "server_event" || type === "tools_changed" || type === "tool_changed") void this.#tellServers();
    if (type === "grant_changed" || type === "tools_changed" || type === "tool_changed" || type === "approval") {
      for (const { push } of this.#open) push(type, fields);
    }
    if (type === "chat_event") {
      for (const { push, watching } of this.#open) if (watching.has(String(fields["session_id"]))) push(type, fields);
    }
    if (type === "server_log") {
      for (const { push, following } of this.#open) if (following.has(String(fields["server_id"]))) push(type, fields);
    }
  }

  /** Asks for the events of servers, and tells what there is; both are one request. */
  async #tellServers(): Promise<void> {
    if (this.#telling !== "no") {
      this.#telling = "again";
      return;
    }
    try {
      do {
        this.#telling = "yes";
        const { servers } = await this.#bridge.request("watch_servers", {});
        for (const { push } of this.#open) push("servers", { servers });
      } while ((this.#telling as string) === "again");
    } catch (error) {
      // The connection is lost: the next one tells anew.
      if (!(error instanceof CodedError)) throw error;
    } finally {
      this.#telling = "no";
    }
  }

  async #ask(sidebar: Sidebar, asked: string, payload: Fields, { signal, progress }: Context): Promise<unknown> {
    if (asked === WATCH_SITE) return this.#watchSite(sidebar, payload);
    if (asked === PAGE_OPTIONS) return this.#pages.openOptions().then(() => ({}));
    if (asked === PAGE_FLAGS) return this.#pages.pageFlags(parseFlagChange(payload));
    if (asked === BROWSER_TOOLS) return this.#pages.browserTools(parseChange(payload));
    if (asked === PAGE_TOOLS) return this.#pages.pageTools(parsePageToolsChange(payload));
    if (asked === PAGE_HOSTS) return { hosts: hostsOf((await this.#bridge.request("get_config", {}, { signal })).config) };
    if (asked === CLIENT_TOOLS) return this.#switchTools(parseClientTools(payload));
    const { type, fields } = parseAllowed(asked, payload);
    if (type === "approvals_answer") this.#pages.answered(String(fields["approval_id"]));
    if (type === "mcp_get_logs") return this.#logs(sidebar, fields, signal);
    if (type === "chat_watch") return this.#watchChat(sidebar, fields, signal);
    // A turn belongs to the bridge: it goes on when this sidebar closes.
    if (type === "chat_send_message") {
      const onAsk = (ask: Pushes["ask"]) => this.#asked(String(fields["session_id"]), ask);
      return this.#bridge.request(type, { ...fields, answers: ANSWERS } as never, { onAsk });
    }
    const onProgress = ({ progress: now, total, message }: Pushes["progress"]) => progress({ progress: now, total, message });
    const reply = await this.#bridge.request(type, fields as never, { signal, onProgress });
    // The servers say how many of their tools have changed, and no event says that one is accepted.
    if (type === "host_accept_tool_change" || type === "host_accept_server_change") void this.#tellServers();
    return reply;
  }

  /** Changes the list of a client that has one. To use a tool comes first: what is taken from it ends there. */
  async #switchTools({ origin, tools }: ClientTools): Promise<unknown> {
    const { grants } = await this.#bridge.request("host_get_permissions", { origin });
    if (toolsOf(origin, grants) === undefined) throw new CodedError("ERR_PERMISSION_DENIED", "this app has no tools that could be switched");
    for (const scope of ["mcp:tools.call", "mcp:tools.list"]) {
      await this.#bridge.request("host_grant_permission", { origin, scope, grant_type: "ALLOW_ALWAYS", allowed_tools: tools });
    }
    return {};
  }

  async #watchSite(sidebar: Sidebar, { window_id: windowId }: Fields): Promise<unknown> {
    if (typeof windowId !== "number" || !Number.isSafeInteger(windowId)) throw new CodedError("ERR_INVALID_REQUEST", "window_id must be a window's id");
    sidebar.windowId = windowId;
    await this.pageShown(windowId);
    return {};
  }

  /** All sidebars have one connection: a chat is followed until the last one has enough. What was told already is told again to all of them. */
  async #watchChat({ watching }: Sidebar, fields: Fields, signal: AbortSignal): Promise<unknown> {
    const session_id = String(fields["session_id"]);
    if (fields["watch"] === false) {
      watching.delete(session_id);
      this.#unwatch(session_id);
      return {};
    }
    watching.add(session_id);
    this.#pages.chatShown(session_id);
    return this.#bridge.request("chat_watch", fields as never, { signal });
  }

  #unwatch(session_id: string): void {
    if (![...this.#open].some(({ watching }) => watching.has(session_id))) this.#pages.chatLeft(session_id);
  }

  /** All sidebars have one connection: a log is followed until the last one has enough. */
  async #logs({ following }: Sidebar, fields: Fields, signal: AbortSignal): Promise<unknown> {
    const server_id = String(fields["server_id"]);
    if (fields["follow"] === false) {
      following.delete(server_id);
      await this.#unfollow(server_id);
      return {};
    }
    if (fields["follow"] === true) following.add(server_id);
    return this.#bridge.request("mcp_get_logs", fields as never, { signal });
  }

  async #unfollow(server_id: string): Promise<void> {
    const followed = [...this.#open].some(({ following }) => following.has(server_id));
    if (followed || this.#bridge.state.is !== "ready") return;
    await this.#bridge.request("mcp_get_logs", { server_id, limit: 1, follow: false }).catch(() => undefined);
  }
}
