// Which question the person is asked, and when a site may ask again.
//
//   ask ─► refused, or shown, or waits behind the same origin's open question ─► shown or refused
//
// Pure: state, event, now in; state and actions out. `now` is the time of day, since it has to hold across restarts. Must never
// know what is asked. One question at a time per origin; after a denial none for ten seconds, after three none until the document is
// another one; each needs a gesture of its own. What its page takes back once its turn has come counts as a denial: else a page could open
// windows without end.
//
// Calls of runs come without a gesture, and a denied call is no denial of the site. Their limit is of the origin: after three in a row
// without a yes, none for ten seconds, and for twice as long after each one more. A yes ends that.

/** How long an origin has to be silent after a denial, or after it has taken a question back. */
export const COOLDOWN_MS = 10_000;

/** After so many denials, and questions taken back, a document may not ask any more. */
export const MOST_DENIALS = 3;

/** How many questions may wait behind an open one, and how many may be open in all. */
export const MOST_WAITING = 2;
export const MOST_OPEN = 8;

/** The pause of an origin whose runs get no yes is doubled so often at most: that is 43 minutes. */
const MOST_DOUBLED = 8;

/** Documents that are remembered for their denials, and for their gestures. */
const MOST_DOCUMENTS = 1_000;

export interface Question {
  id: number;
  origin: string;
  document: string;
}

export interface State {
  open: readonly Question[];
  waiting: readonly Question[];
  /** When an origin was last denied something. */
  denied: ReadonlyMap<string, number>;
  /** How often a document was. */
  denials: ReadonlyMap<string, number>;
  /** The last gesture of a document that has had its question. */
  used: ReadonlyMap<string, number>;
  /** Of an origin: how many questions of its runs had no yes since the last one that had, and when the last of them ended. */
  unconfirmed: ReadonlyMap<string, Unconfirmed>;
}

interface Unconfirmed {
  count: number;
  at: number;
}

/** What of a state has to outlive the background, as it is stored. */
export interface Memory {
  denied: [origin: string, at: number][];
  denials: [document: string, count: number][];
  unconfirmed: [origin: string, of: Unconfirmed][];
}

export function memoryOf({ denied, denials, unconfirmed }: State): Memory {
  return { denied: [...denied], denials: [...denials], unconfirmed: [...unconfirmed] };
}

/** The state after a restart of the background. Questions that were open have ended with it. */
export function recalled(stored: unknown): State {
  const { denied = [], denials = [], unconfirmed = [] } = Object(stored) as Partial<Memory>;
  return { ...START, denied: new Map(denied), denials: new Map(denials), unconfirmed: new Map(unconfirmed) };
}

/** `withdrawn`: by its page, which has cancelled it or is gone. `failed`: by nobody. */
export type Outcome = "allowed" | "denied" | "withdrawn" | "failed";

export type Event =
  | { is: "asked"; question: Question; gesture: number }
  /** A question, open or waiting, has come to its end. */
  | { is: "ended"; id: number; outcome: Outcome };

export type Action =
  | { do: "show"; id: number }
  | { do: "refuse"; id: number; code: "ERR_USER_GESTURE_REQUIRED" | "ERR_PERMISSION_DENIED" | "ERR_RATE_LIMITED"; message: string };

export interface Step {
  state: State;
  actions: Action[];
}

export const START: State = { open: [], waiting: [], denied: new Map(), denials: new Map(), used: new Map(), unconfirmed: new Map() };

export function step(state: State, event: Event, now: number): Step {
  return event.is === "asked" ? asked(state, event.question, event.gesture, now) : ended(state, event.id, event.outcome, now);
}

function asked(state: State, question: Question, gesture: number, now: number): Step {
  const refuse = (code: (Action & { do: "refuse" })["code"], message: string): Step => ({
    state,
    actions: [{ do: "refuse", id: question.id, code, message }],
  });
  if (hasEnough(state, question.document)) {
    return refuse("ERR_PERMISSION_DENIED", "denied or taken back three times: the page must be loaded again before it can ask");
  }
  if (gesture <= 0) return refuse("ERR_USER_GESTURE_REQUIRED", "ask just after the person has clicked or typed");
  if (gesture <= (state.used.get(question.document) ?? 0)) {
    return refuse("ERR_USER_GESTURE_REQUIRED", "one click opens one question: ask again after the next click or key");
  }
  if (isPaused(state, question.origin, now)) {
    return refuse("ERR_PERMISSION_DENIED", "denied or taken back a moment ago: ask again in ten seconds, after a click");
  }
  const used = remembered(state.used, question.document, gesture);
  if (!isOpen(state, question.origin)) {
    if (state.open.length >= MOST_OPEN) return refuse("ERR_RATE_LIMITED", "too many questions are open: wait for an answer");
    return { state: { ...state, used, open: [...state.open, question] }, actions: [{ do: "show", id: question.id }] };
  }
  const before = state.waiting.filter(({ origin }) => origin === question.origin).length;
  if (before >= MOST_WAITING) return refuse("ERR_RATE_LIMITED", "a question is open already: wait for its answer");
  return { state: { ...state, used, waiting: [...state.waiting, question] }, actions: [] };
}

/** Whether a click of this document could open a question now: not after a no, until its time is over. */
export function mayAsk(state: State, { origin, document }: Pick<Question, "origin" | "document">, now: number): boolean {
  return !hasEnough(state, document) && !isPaused(state, origin, now);
}

const hasEnough = ({ denials }: State, document: string): boolean => (denials.get(document) ?? 0) >= MOST_DENIALS;

function isPaused({ denied }: State, origin: string, now: number): boolean {
  const since = now - (denied.get(origin) ?? Number.NEGATIVE_INFINITY);
  return since >= 0 && since < COOLDOWN_MS;
}

function ended(state: State, id: number, outcome: Outcome, now: number): Step {
  const open = state.open.filter((question) => question.id !== id);
  const waiting = state.waiting.filter((question) => question.id !== id);
  const question = state.open.find((one) => one.id === id);
  if (question === undefined) return { state: { ...state, waiting }, actions: [] };
  if (outcome === "allowed" || outcome === "failed") return next({ ...state, open, waiting }, question.origin);
  const { origin, document } = question;
  const denied = new Map(state.denied).set(origin, now);
  for (const [other, at] of denied) if (now - at >= COOLDOWN_MS) denied.delete(other);
  const denials = remembered(state.denials, document, (state.denials.get(document) ?? 0) + 1);
  const refused = waiting.filter((one) => one.origin === origin);
  return {
    state: { ...state, open, waiting: waiting.filter((one) => one.origin !== origin), denied, denials },
    actions: refused.map(({ id }) => ({
      do: "refuse",
      id,
      code: "ERR_PERMISSION_DENIED",
      message: "another question of this site was denied or taken back meanwhile",
    })),
  };
}

/** Whether a run of this origin may ask about a call. */
export function mayConfirm({ unconfirmed }: State, origin: string, now: number): boolean {
  const { count, at } = unconfirmed.get(origin) ?? { count: 0, at: now };
  const more = count - MOST_DENIALS;
  if (more < 0) return true;
  const since = now - at;
  return since < 0 || since >= COOLDOWN_MS * 2 ** Math.min(more, MOST_DOUBLED);
}

/** The state after a question about a call of a run, which was shown. */
export function confirmed(state: State, origin: string, outcome: "allowed" | "denied" | "withdrawn", now: number): State {
  if (outcome !== "allowed") {
    const count = (state.unconfirmed.get(origin)?.count ?? 0) + 1;
    return { ...state, unconfirmed: remembered(state.unconfirmed, origin, { count, at: now }) };
  }
  const unconfirmed = new Map(state.unconfirmed);
  unconfirmed.delete(origin);
  return { ...state, unconfirmed };
}

/** With this of a document, or an origin; the oldest are forgotten. */
function remembered<T>(known: ReadonlyMap<string, T>, of: string, value: T): Map<string, T> {
  const found = new Map(known);
  found.delete(of);
  found.set(of, value);
  for (const oldest of found.keys()) if (found.size > MOST_DOCUMENTS) found.delete(oldest);
  return found;
}

/** Shows what waited behind the question of this origin. */
function next(state: State, origin: string): Step {
  const question = state.waiting.find((one) => one.origin === origin);
  if (question === undefined) return { state, actions: [] };
  const waiting = state.waiting.filter((one) => one !== question);
  return { state: { ...state, open: [...state.open, question], waiting }, actions: [{ do: "show", id: question.id }] };
}

function isOpen(state: State, origin: string): boolean {
  return state.open.some((question) => question.origin === origin);
}
