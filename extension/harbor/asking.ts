// Asks the person: opens the page of a question, takes the answer, closes it again.
//
// Owns the open questions and their windows. Who may ask when is decided in questions.ts, what an answer means in grants.ts.
// Must never answer for the person: a window that is closed is a denial that nobody remembers.

import { CodedError } from "../shared/protocol/codes.ts";
import type { Decision } from "./grants.ts";
import type { QuestionView } from "./own.ts";
import { type Action, type Event, START, type State, step } from "./questions.ts";

/** The window of a question, in pixels. */
const WIDTH = 460;
const HEIGHT = 640;

/** What this needs of its surroundings. */
export interface Surroundings {
  now(): number;
  /** Opens the page of a question; the window's id. */
  open(questionId: number, width: number, height: number): Promise<number>;
  close(windowId: number): Promise<void>;
}

/** What is to be asked, made when its turn has come; or the answer, where none is needed any more. */
export type Prepare = () => Promise<Omit<QuestionView, "id"> | "settled">;

/** What came of a question. */
export type Answer = { is: "settled" } | { is: "decided"; decision: Decision };

interface Asked {
  prepare: Prepare;
  view: QuestionView | undefined;
  windowId: number | undefined;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

export class Asking {
  readonly #around: Surroundings;
  readonly #asked = new Map<number, Asked>();
  #state: State = START;
  #last = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Asks; rejects where the site may not ask now, or with the signal's reason. */
  ask(who: { origin: string; document: string; gesture: boolean }, prepare: Prepare, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#last;
      const { gesture, ...question } = who;
      this.#asked.set(id, { prepare, view: undefined, windowId: undefined, resolve, reject });
      signal.addEventListener("abort", () => this.#end(id, "withdrawn", (asked) => asked.reject(signal.reason)));
      this.#happened({ is: "asked", question: { id, ...question }, gesture });
    });
  }

  /** What the page of a question shows. */
  view(id: number): QuestionView | undefined {
    return this.#asked.get(id)?.view;
  }

  /** The person has answered. False: there is no such question any more. */
  decide(id: number, decision: Decision): boolean {
    if (this.#asked.get(id)?.view === undefined) return false;
    const outcome = decision.allow === "no" ? "denied" : "allowed";
    this.#end(id, outcome, (asked) => asked.resolve({ is: "decided", decision }));
    return true;
  }

  /** A window is gone, of whatever page. */
  windowClosed(windowId: number): void {
    for (const [id, asked] of this.#asked) {
      if (asked.windowId === windowId) this.decide(id, { allow: "no", remember: false });
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
      const view = await asked.prepare();
      if (!this.#asked.has(id)) return;
      if (view === "settled") {
        this.#end(id, "allowed", () => asked.resolve({ is: "settled" }));
        return;
      }
      asked.view = { id, ...view };
      const windowId = await this.#around.open(id, WIDTH, HEIGHT);
      asked.windowId = windowId;
      if (!this.#asked.has(id)) await this.#around.close(windowId);
    } catch (error) {
      this.#end(id, "withdrawn", () => asked.reject(error));
    }
  }

  #end(id: number, outcome: "allowed" | "denied" | "withdrawn", tell: (asked: Asked) => void): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    tell(asked);
    if (asked.windowId !== undefined) void this.#around.close(asked.windowId);
    this.#happened({ is: "ended", id, outcome });
  }
}
