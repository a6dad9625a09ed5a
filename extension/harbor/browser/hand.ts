// What a tool is given to work with: the tab, the documents in it, the session.
//
// Owns what several tools do alike. Must never act on a tab that the bridge did not name.

import { type TabView, tabOf } from "../../shared/browser/tabs.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { ToolError, isOn } from "./call.ts";
import { Closed, type Documents, WentAway } from "./documents.ts";
import type { Commands, Done, Name, Replies } from "./page/commands.ts";
import { bounded, written } from "./page/bound.ts";
import type { Outcome } from "./result.ts";
import type { Snapshots } from "./snapshots.ts";
import type { Watch } from "./watch.ts";

/** How long a document that an action has begun is waited for, in milliseconds. */
export const LOAD_MS = 10_000;

/** How long it may take until the browser tells of what a page says that it has begun, in milliseconds. */
const BEGIN_MS = 300;

/** How much of a snapshot an answer has, in characters: with all around it the answer has 20 kB. */
export const SNAPSHOT_CHARS = 19_500;

export interface Hand {
  args: Fields;
  tabs: number[];
  tab: TabView;
  documents: Documents;
  watch: Watch;
  snapshots: Snapshots;
  signal: AbortSignal;
  /** Whether the bridge lets this session use a document from there. */
  mayUse(url: string): Promise<boolean>;
  /** A new tab of the session; where it may not go there it is not opened. */
  open(url: string): Promise<TabView>;
  /** The same for what this tab's page leads to: the current tab stays the current one. */
  openBeside(url: string): Promise<TabView>;
  /** The session's tabs as they may be told of. */
  told(): Promise<TabView[]>;
  /** A text without the values of secret fields in the session's tabs, and without what was typed in it by a name. */
  without(text: string): string;
  /** A piece of the nth file that the call carries, base64: none at its end. */
  piece(nth: number, offset: number): Promise<string>;
  /** The page API of a tab's documents answers nothing until they are loaded anew. */
  closeApi(tabId: number): Promise<void>;
  /** From now on bodies of requests are kept at a site of this session's; whether they were before. */
  keepBodies(site: string): boolean;
  /** Gives a tab to the person. */
  release(tabId: number): Promise<void>;
}

export type Tool = (hand: Hand) => Promise<Outcome>;

/** Has the document that a target is in do something. */
export function inDocument<N extends Name>({ documents, tab }: Hand, target: string | undefined, name: N, options: Commands[N]): Promise<Replies[N]> {
  return documents.run(tab.id, documents.frameOf(tab.id, target), name, options);
}

type Acting = { [N in Name]: Replies[N] extends Done ? N : never }[Name];

/** An action: what was done, and what it began is waited for. */
export async function acted<N extends Acting>(hand: Hand, said: string, target: string | undefined, name: N, options: Commands[N]): Promise<Outcome> {
  const lines: string[] = [];
  try {
    const done = (await inDocument(hand, target, name, options)) as Done;
    lines.push(...done.lines);
    if (done.opens !== undefined) lines.push(`${done.opens} was opened in tab ${(await hand.openBeside(done.opens)).id}, behind this one`);
    // What it began the browser tells a little later.
    if (done.begun !== undefined) await hand.watch.begins(hand.tab.id, done.begun, BEGIN_MS);
  } catch (error) {
    if (!(error instanceof WentAway)) throw error;
    // A page may close its tab.
    if (error instanceof Closed) return { said: `${said} The tab is closed.` };
    lines.push(error.message);
  }
  return arrived(hand, said, lines);
}

/** Waits for a document that is on its way. */
export async function arrived({ args, tab, watch, snapshots, mayUse }: Hand, said: string, lines: string[] = []): Promise<Outcome> {
  const isThere = await watch.settled(tab.id, LOAD_MS);
  const late = isThere ? "" : ` The page has not loaded within ${LOAD_MS / 1000} s and is still loading.`;
  if (!isOn(args, "snapshot")) return { said: `${said}${late}`, page: lines.join("\n") };
  const shown = await snapshots.take(tab.id, { filter: "all" }, mayUse);
  const number = snapshots.keep(tab.id, shown);
  return { said: `${said}${late} A snapshot stands below; its number is ${number}.`, page: `${lines.join("\n")}\n\n${bounded(shown.map(written), SNAPSHOT_CHARS)}` };
}

/** The tab as it is now. */
export async function now({ tab }: Hand): Promise<TabView> {
  const found = await tabOf(tab.id);
  if (found === undefined) throw new ToolError(`tab ${tab.id} is closed`);
  return found;
}
