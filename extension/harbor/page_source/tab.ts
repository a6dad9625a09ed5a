// The tools of the page in one tab: which there are, and the source that the bridge has of them.
//
//   look ─► judged ─► listed ─► registered, where the person has switched its site on
//        ─► another document, or none that may be used: withdrawn
//
// Owns the source's life, and that a page is listed at most once a second however often it says that its tools have changed. Must never
// offer what `judge` did not let through.

import type { Port } from "../../shared/browser/api.ts";
import type { NativeClient } from "../../shared/native/client.ts";
import type { After } from "../../shared/ports/caller.ts";
import { isFields } from "../../shared/ports/wire.ts";
import { type Paced, paced } from "../pace.ts";
import type { Born } from "./forms.ts";
import { type Marked, labelOf, parseTools } from "./result.ts";
import type { Way } from "./way.ts";

/** A page is listed at most once in so long, in milliseconds. */
const LIST_MS = 1_000;

/** A page that does not answer is asked so often again. */
const MOST_SILENT = 5;

/** A page whose tools may be looked at. */
export interface Judged {
  origin: string;
  title: string;
  /** Whether the person has switched its site on. */
  isOn: boolean;
}

export interface Around {
  bridge: Pick<NativeClient, "request" | "state">;
  way: Way;
  /** Nothing: the page that the tab shows may not be used. Rejects where it does not answer. */
  judge(tabId: number): Promise<Judged | undefined>;
  after: After;
  /** Hears that what is known here is another thing. */
  changed(tab: TabTools): void;
  /** Hears that the document of a tab has gone. */
  left(tabId: number): void;
}

/** Of a document that is there. */
interface Page extends Born {
  tools: Marked[];
  isOn: boolean;
  /** Aborted when it goes. */
  gone: AbortController;
}

export class TabTools {
  readonly id: number;
  readonly #around: Around;
  readonly #paced: Paced<null>;
  #page: Page | undefined;
  #port: Port | undefined;
  #sourceId: string | undefined;
  /** The tools as they were registered last. */
  #registered = "";
  #problem: string | undefined;
  /** How often it has not answered. */
  #silent = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(id: number, around: Around) {
    this.id = id;
    this.#around = around;
    this.#paced = paced(() => void this.look().catch((error: unknown) => console.error("the tools of a page could not be listed", error)), around.after, LIST_MS);
  }

  get page(): Page | undefined {
    return this.#page;
  }

  get sourceId(): string | undefined {
    return this.#sourceId;
  }

  /** Why the bridge has no source of what is switched on. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The page may have changed: it is looked at at once, or as soon as it may be. */
  due(): void {
    this.#paced.say(null);
  }

  /** Looks at the page that the tab shows now. */
  look(): Promise<void> {
    return this.#inTurn(() => this.#look());
  }

  /** Its document is gone, or may not be used any more. */
  leave(): Promise<void> {
    return this.#inTurn(() => this.#leave());
  }

  /** The person has switched its site off: the calls end, and the page stays known. */
  off(): Promise<void> {
    return this.#inTurn(async () => {
      const page = this.#page;
      if (page !== undefined) this.#page = { ...page, isOn: false, gone: new AbortController() };
      page?.gone.abort();
      await this.#withdraw();
      this.#around.changed(this);
    });
  }

  /** The bridge has forgotten all sources. */
  lost(): void {
    this.#sourceId = undefined;
    this.#registered = "";
  }

  /** The document has opened its port. */
  heard(port: Port): void {
    if (this.#page === undefined) return port.disconnect();
    this.#port?.disconnect();
    this.#port = port;
    port.onMessage(() => this.due());
    port.onDisconnect(() => {
      if (this.#port !== port) return;
      this.#port = undefined;
      // Its calls hear at once, also while another look is under way.
      this.#page?.gone.abort();
      void this.leave().then(() => this.#around.left(this.id));
    });
  }

  /** One after the other: what is looked at later is newer. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.#work.then(work);
    this.#work = next.catch(() => undefined);
    return next;
  }

  async #look(): Promise<void> {
    const found = await this.#found().catch((): "silent" => "silent");
    this.#silent = found === "silent" ? this.#silent + 1 : 0;
    // What is known of a page that is busy stays meanwhile: a call looks again anyway.
    if (found === "silent" && this.#silent <= MOST_SILENT) return this.due();
    if (found === "silent" || found === undefined) return this.#leave();
    const { judged, listed } = found;
    const { origin, born } = listed;
    const isSame = this.#page?.origin === origin && this.#page.born === born && !this.#page.gone.signal.aborted;
    if (!isSame) await this.#leave();
    this.#page = { origin, born, isOn: judged.isOn, tools: parseTools(listed.tools), gone: this.#page?.gone ?? new AbortController() };
    if (!isSame) await this.#around.way.hear(this.id).catch(() => undefined);
    await this.#register(judged);
    this.#around.changed(this);
  }

  /** The page, where it may be used; rejects where it does not answer. */
  async #found(): Promise<{ judged: Judged; listed: Born & { tools: unknown } } | undefined> {
    const { way, judge } = this.#around;
    const judged = await judge(this.id);
    if (judged === undefined) return undefined;
    const listed: unknown = await way.list(this.id);
    // It may have gone to another site meanwhile.
    if (!isFields(listed) || listed["origin"] !== judged.origin || typeof listed["born"] !== "number") return undefined;
    return { judged, listed: { origin: judged.origin, born: listed["born"], tools: listed["tools"] } };
  }

  async #register({ origin, title, isOn }: Judged): Promise<void> {
    const { bridge } = this.#around;
    const tools = (this.#page?.tools ?? []).map(({ offer }) => offer);
    const wanted = JSON.stringify(tools);
    if (!isOn || tools.length === 0) return this.#withdraw();
    if (bridge.state.is !== "ready" || this.#registered === wanted) return;
    try {
      const asked = { kind: "page", name: labelOf(title, new URL(origin).host), origin, tab_id: this.id, tools };
      this.#sourceId = (await bridge.request("source_register", asked as never)).source_id;
      this.#registered = wanted;
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  async #leave(): Promise<void> {
    const page = this.#page;
    this.#page = undefined;
    page?.gone.abort();
    this.#port?.disconnect();
    this.#port = undefined;
    await this.#withdraw();
    if (page !== undefined) this.#around.changed(this);
  }

  async #withdraw(): Promise<void> {
    const source_id = this.#sourceId;
    this.lost();
    this.#problem = undefined;
    // Where the connection is lost, so is the source.
    if (source_id !== undefined) await this.#around.bridge.request("source_unregister", { source_id }).catch(() => undefined);
  }
}
