// Asks the person: opens the page of a question, takes the answer, closes it again.
//
// Owns the open questions and their windows. Who may ask when is decided in questions.ts, what an answer means in grants.ts.
// Must never answer for the person: a window that is closed is a denial that nobody remembers.

import type { Store } from "../shared/browser/api.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Decision } from "./grants.ts";
import type { QuestionView } from "./own.ts";
import { type Action, type Event, START, type State, confirmed, mayAsk, mayConfirm, memoryOf, recalled, step } from "./questions.ts";

/** The key in storage. */
const KEY = "denials";

/** The window of a question, in pixels. */
const WIDTH = 460;
const HEIGHT = 640;

/** Why a question is taken back that its site has not taken back: it was answered in another place, or the connection is lost. */
export const ELSEWHERE = new Error("the question is not open here any more");

/** What this needs of its surroundings. */
export interface Surroundings {
  /** The time of day, in milliseconds. */
  now(): number;
  /** Keeps who was denied, as long as the browser runs. */
  store: Store;
  /** Opens the page of a question; the window's id. */
  open(questionId: number, width: number, height: number): Promise<number>;
  close(windowId: number): Promise<void>;
}

/** What a question is about. */
export interface Matter {
  /** What is to be asked, made when its turn has come; or that nothing is, any more. `changed`: takes what is known later. */
  prepare(changed: (view: Omit<QuestionView, "id">) => void): Promise<Omit<QuestionView, "id"> | "settled">;
  /** Keeps what the person has answered. The next question of the site comes after that, and may be settled by it. */
  record(decision: Decision): Promise<void>;
}

interface Asked {
  origin: string;
  matter: Matter;
  view: QuestionView | undefined;
  /** What became known before it was shown. */
  later: QuestionView | undefined;
  /** Its page, once it shows it. */
  tell(view: QuestionView): void;
  windowId: number | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

export class Asking {
  readonly #around: Surroundings;
  readonly #asked = new Map<number, Asked>();
  /** The last question of each origin about what it has begun. */
  readonly #confirming = new Map<string, Promise<void>>();
  readonly #ready: Promise<void>;
  #state: State = START;
  #last = 0;

  constructor(around: Surroundings) {
    this.#around = around;
    const recall = (stored: unknown) => void (this.#state = recalled(stored));
    this.#ready = around.store.get(KEY).then(recall, (error) => console.error("denials are not known", error));
  }

  /** Asks, until there is an answer and it is kept; rejects where the site may not ask now, or with the signal's reason. */
  ask(who: { origin: string; document: string; gesture: number }, matter: Matter, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const { gesture, ...question } = who;
      this.#asked.set(id, { origin: who.origin, matter, view: undefined, later: undefined, tell: () => undefined, windowId: undefined, resolve, reject });
      signal.addEventListener("abort", () => this.#end(id, "withdrawn", (asked) => asked.reject(signal.reason)));
      void this.#ready.then(() => {
        if (this.#asked.has(id)) this.#happened({ is: "asked", question: { id, ...question }, gesture });
      });
    });
  }

  /** Whether a question of this origin waits for an answer, or for its turn. */
  isAsking(origin: string): boolean {
    return [...this.#asked.values()].some((asked) => asked.origin === origin);
  }

  /** Whether a click in this document could open a question now. */
  async mayAsk(who: { origin: string; document: string }): Promise<boolean> {
    await this.#ready;
    return mayAsk(this.#state, who, this.#around.now());
  }

  /**
   * Asks about what the site has begun already, without a click: one after the other of an origin, and what is denied here is no denial of the
   * site's. Resolves with the answer, or with "refused" where the person has not said yes to the last ones; rejects with the signal's reason.
   */
  confirm(view: Omit<QuestionView, "id">, signal: AbortSignal): Promise<Decision | "refused"> {
    const before = this.#confirming.get(view.origin) ?? Promise.resolve();
    const asked = Promise.all([before, this.#ready]).then(async (): Promise<Decision | "refused"> => {
      signal.throwIfAborted();
      return mayConfirm(this.#state, view.origin, this.#around.now()) ? this.#confirm(view, signal) : "refused";
    });
    const over = asked.then(() => undefined, () => undefined);
    this.#confirming.set(view.origin, over);
    void over.then(() => {
      if (this.#confirming.get(view.origin) === over) this.#confirming.delete(view.origin);
    });
    return asked;
  }

  #confirm(view: Omit<QuestionView, "id">, signal: AbortSignal): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const ended = (outcome: "allowed" | "denied" | "withdrawn") => void (this.#state = confirmed(this.#state, view.origin, outcome, this.#around.now()));
      const record = async (decision: Decision) => {
        ended(decision.allow === "no" ? "denied" : "allowed");
        await this.#keep().catch(notKept);
        resolve(decision);
      };
      const matter: Matter = { prepare: async () => view, record };
      const asked = { origin: view.origin, matter, view: undefined, later: undefined, tell: () => undefined, windowId: undefined, resolve: () => undefined, reject };
      this.#asked.set(id, asked);
      signal.addEventListener("abort", () => {
        const taken = this.#taken(id);
        if (taken === undefined) return;
        if (signal.reason !== ELSEWHERE) {
          ended("withdrawn");
          void this.#keep().catch(notKept);
        }
        taken.reject(signal.reason);
      });
      void this.#show(id, asked);
    });
  }

  /** What the page of a question shows. `tell`: is told when that becomes another. */
  view(id: number, tell?: (view: QuestionView) => void): QuestionView | undefined {
    const asked = this.#asked.get(id);
    if (asked !== undefined && tell !== undefined) asked.tell = tell;
    return asked?.view;
  }

  /** The person has answered. False: there is no such question any more, or it was not about that. */
  decide(id: number, decision: Decision): boolean {
    const view = this.#asked.get(id)?.view;
    if (view === undefined || !isShown(decision, view)) return false;
    void this.#record(id, decision);
    return true;
  }

  /** A window is gone, of whatever page. */
  windowClosed(windowId: number): void {
    for (const [id, asked] of this.#asked) {
      if (asked.windowId === windowId) this.decide(id, { allow: "no", remember: false, dismissed: true });
    }
  }

  async #record(id: number, decision: Decision): Promise<void> {
    const asked = this.#taken(id);
    const outcome = decision.allow === "no" ? "denied" : "allowed";
    try {
      await asked?.matter.record(decision);
      this.#happened({ is: "ended", id, outcome });
      // Before the page hears of it: it may ask again at once, and of another background.
      if (outcome === "denied") await this.#keep();
      asked?.resolve();
    } catch (error) {
      this.#happened({ is: "ended", id, outcome });
      asked?.reject(error);
    }
  }

  #happened(event: Event): void {
    const { state, actions } = step(this.#state, event, this.#around.now());
    this.#state = state;
    for (const action of actions) this.#perform(action);
  }

  #perform(action: Action): void {
    const asked = this.#asked.get(action.id);
    if (asked === undefined) return;
    if (action.do === "show") {
      void this.#show(action.id, asked);
      return;
    }
    this.#asked.delete(action.id);
    asked.reject(new CodedError(action.code, action.message));
  }

  async #show(id: number, asked: Asked): Promise<void> {
    try {
      const view = await asked.matter.prepare((later) => this.#changed(asked, { id, ...later }));
      if (!this.#asked.has(id)) return;
      if (view === "settled") {
        this.#end(id, "allowed", () => asked.resolve());
        return;
      }
      asked.view = asked.later ?? { id, ...view };
      const windowId = await this.#around.open(id, WIDTH, HEIGHT);
      asked.windowId = windowId;
      if (!this.#asked.has(id)) await this.#around.close(windowId);
    } catch (error) {
      this.#end(id, "failed", () => asked.reject(error));
    }
  }

  #changed(asked: Asked, view: QuestionView): void {
    asked.later = view;
    if (asked.view === undefined) return;
    asked.view = view;
    asked.tell(view);
  }

  #end(id: number, outcome: "allowed" | "withdrawn" | "failed", tell: (asked: Asked) => void): void {
    const asked = this.#taken(id);
    if (asked === undefined) return;
    tell(asked);
    this.#happened({ is: "ended", id, outcome });
    if (outcome === "withdrawn") void this.#keep().catch(notKept);
  }

  #keep(): Promise<void> {
    return this.#around.store.set(KEY, memoryOf(this.#state));
  }

  /** Takes a question out, and its window away: nothing answers it any more. */
  #taken(id: number): Asked | undefined {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (asked?.windowId !== undefined) void this.#around.close(asked.windowId);
    return asked;
  }
}

const notKept = (error: unknown) => console.error("how a question ended is not kept", error);

/** Whether a decision allows nothing that was not shown. */
function isShown(decision: Decision, { servers }: QuestionView): boolean {
  if (decision.allow === "no") return true;
  const shown = new Set(servers.flatMap(({ tools }) => tools.map(({ name }) => name)));
  return decision.tools.every((tool) => shown.has(tool));
}
