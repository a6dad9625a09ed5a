// What the sidebar knows: one state, changed in one place.
//
// Owns the state's form. Must never hold a secret's value, nor an element of the page.

import type { Failure } from "../../shared/protocol/codes.ts";
import type {
  Approval,
  Authorization,
  BranchView,
  Budget,
  CatalogDetails,
  ChatSession,
  ChatUsage,
  CredentialStatus,
  Grant,
  Installed,
  LogLine,
  Model,
  Requests,
  Resolved,
  Sandbox,
  Server,
  ServerChange,
  StandingAnswer,
  ToolChange,
} from "../../shared/protocol/generated/messages.ts";
import type { BrowserToolsView } from "../browser/switch.ts";
import type { PageFlags } from "../page_flags.ts";
import type { Activity } from "./activity.ts";
import type { Ways } from "./catalogued.ts";
import type { FirstRun } from "./chat/first_run.ts";
import type { AskedForm } from "./chat/server_ask.ts";
import type { Beginning } from "./chat/talk.ts";
import type { Filling } from "./chat/prompts.ts";
import type { Attachment, Item, Turn } from "./chat/transcript.ts";
import type { LogFilter } from "./days.ts";
import type { Draft, Problems } from "./form/draft.ts";
import type { At } from "./chat/at.ts";
import type { PageState } from "./chat/page_rules.ts";
import type { Plan } from "./form/schema.ts";
import type { Providers } from "./models/known.ts";
import type { Pasted } from "./pasted.ts";
import type { Route } from "./route.ts";
import type { Search } from "./search.ts";
import type { BridgeView } from "./serve.ts";
import type { Site } from "./site.ts";

/** A tool as it is shown. All texts are the server's. */
export interface Tool {
  name: string;
  title: string | undefined;
  description: string | undefined;
  inputSchema: unknown;
  /** What it does, as far as Harbor knows: `reads`, `writes` or `destroys`. */
  effect: string | undefined;
}

/** What is known of the server that is looked at. What is absent is not known yet. */
export interface Detail {
  id: string;
  tools?: Tool[];
  /** Whether the tools are those that it listed last: it does not run. */
  lastListed?: boolean;
  changes?: ToolChange[];
  programs?: ServerChange[];
  logs?: LogLine[] | undefined;
  credentials?: CredentialStatus;
  /** What kinds of secrets are set, by name. */
  kinds?: { [key: string]: string };
  authorization?: Authorization | "none";
  /** Where the person is to sign in, while that is under way. */
  signIn?: string;
  /** What it may do on this machine. */
  sandbox?: Sandbox | undefined;
  /** Why it would not start, and what to do. */
  whyNot?: string | undefined;
  /** What is searched for among its tools. */
  wanted?: string;
  /** Whether the installer's lines are shown in its log. */
  installing?: boolean;
  /** Whether the person is asked about removing it. */
  removing?: boolean;
}

/** A tool that is tried out. */
export interface Trial {
  id: string;
  tool: string;
  /** The schema that the form is made of. */
  schema: string;
  plan: Plan;
  /** Counts how often its form was filled in anew, so that it is drawn anew. */
  drawn?: number;
  /** Whether the arguments are typed as JSON. */
  asJson: boolean;
  draft: Draft;
  json: { text: string };
  problems: Problems;
  progress?: { progress: number; total?: number; message?: string } | undefined;
  result?: { value: unknown; ms: number } | undefined;
  /** Whether the person has cancelled its last call. */
  cancelled?: boolean;
}

/** An installation, from what is known of its source to its end. */
export interface Installation {
  source: string;
  /** What the person has filled in. No secret is in it. */
  filled: Pick<Requests["install_server"], "inputs" | "env" | "server_id">;
  details?: CatalogDetails;
  about?: Resolved;
  plan?: Installed;
  step?: string | undefined;
  done?: Installed;
  /** Whether the person wants another one, where its server is here already. */
  again?: boolean;
}

/** The chat that is shown. */
export interface Chat {
  /** The session; absent: a new one, which the first message begins. */
  id: string | undefined;
  session: ChatSession | undefined;
  /** Whether its messages have been read. */
  isKnown: boolean;
  /** What is in its messages, up to the turn that is under way. */
  items: Item[];
  turn: Turn | undefined;
  /** The person's message that is on its way. */
  said: Item | undefined;
  /** How the last turn ended. */
  last: { usage: ChatUsage | undefined; items: Item[] } | undefined;
  isStopping: boolean;
  /** From when the provider takes requests again, where it has refused the last one and says so. */
  free?: number | undefined;
  /** All sessions of its family, where it has branches. */
  branches: BranchView[];
}

/** What is attached to the next message. */
export interface Attached extends Attachment {
  id: number;
}

/** What the next message is said with. */
export interface Composing extends Beginning {
  attached: Attached[];
  /** The number of the message that it replaces, in a branch. */
  editing: number | undefined;
  /** A prompt of a server that becomes the message when its arguments are there. */
  filling?: Filling | undefined;
}

export interface State {
  bridge: BridgeView;
  /** `undefined`: not told yet. */
  servers: Server[] | undefined;
  route: Route;
  /** Secrets without which servers do not start, by server. */
  missing: { [server: string]: string[] };
  /** What the person has begun, by name: under way, or failed. */
  acts: { [name: string]: "busy" | Failure };
  /** A short remark for everybody, screen readers among them. */
  said: string;
  detail: Detail | undefined;
  trial: Trial | undefined;
  grants: Grant[] | undefined;
  /** The tools of servers whose single switches the person has opened. */
  offered: { [server: string]: Tool[] };
  /** What sites may use of models today, and what an origin may for which nothing is set. */
  budgets: { list: Budget[]; ofAnOrigin: number } | undefined;
  /** Where the person changes one: whose, and what is typed. */
  budgeting: { origin: string; typed: string; problem?: string | undefined } | undefined;
  /** The page in the tab beside the panel; `undefined`: none that could ask for tools. */
  site: Site | undefined;
  /** What was done, of everybody or of one origin. */
  activity: { origin: string | undefined; list: Activity[] } | undefined;
  /** What of it the person wants to see. */
  logged: LogFilter;
  /** Questions about calls, and answers that stand; the arguments of some whole, by the question's id. */
  approvals: { open: Approval[]; standing: StandingAnswer[]; whole: { [id: string]: string } } | undefined;
  /** Whether clients may use this browser, and what they have open in it. */
  browser: BrowserToolsView | undefined;
  /** What pages may ask for at all. */
  pageFlags: PageFlags | undefined;
  search: Search;
  /** How entries of the catalog can be had, by their ids. */
  ways: { [entry: string]: Ways };
  /** What is searched for among the servers. */
  filter: string;
  installation: Installation | undefined;
  /** What was read of what the person has pasted, or why nothing was. */
  pasting: { found: Pasted[]; problem?: string } | undefined;
  chat: Chat | undefined;
  composing: Composing;
  /** What servers ask during turns. */
  asks: AskedForm[];
  /** A link of an answer whose address carries data: the person is asked before it opens. */
  leaving: string | undefined;
  /** The page beside the panel, as far as it may be read. */
  page: PageState;
  /** What the person chooses from after an `@`. */
  at: At | undefined;
  /** The models there are, and the one that is used where none is chosen. */
  models: { list: Model[]; chosen: string | undefined } | undefined;
  providers: Providers;
  /** How far the first steps have got; `undefined`: not read yet. */
  firstRun: FirstRun | undefined;
  /** The person's chats, the one that was used last first. */
  chats: { list: ChatSession[]; total: number; excerpts: { [id: string]: string }; isPartial: boolean } | undefined;
  /** What happens to a server of one's own that is being added, where something does. */
  adding: string | undefined;
}

export class Store {
  #state: State;
  readonly #changed: () => void;

  constructor(state: State, changed: () => void) {
    this.#state = state;
    this.#changed = changed;
  }

  get state(): State {
    return this.#state;
  }

  change(patch: Partial<State>): void {
    this.#state = { ...this.#state, ...patch };
    this.#changed();
  }
}
