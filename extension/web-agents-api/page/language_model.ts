// `LanguageModel`, as the Prompt API has it, with the person's models behind it.
//
// Owns the class and the order in which a session comes to be. Must never use a built-in that is not its own copy: what a page does to
// the class itself is the page's.

import {
  CapturedEvent,
  CapturedEventTarget,
  CapturedProgressEvent,
  CapturedPromise,
  defineProperty,
  dispatchTo,
  listenTo,
  apply,
  stringify,
  parse,
  sourceOf,
  then, isObject } from "./builtins.ts";
import { Conversation, heldBy, streamed } from "./conversation.ts";
import { Ending, signalIn } from "./endings.ts";
import { attempt, domError, notSupported, shown, standardError, wrong } from "./errors.ts";
import { type Draft, type Expected, draftsOf, estimateOf, expectedOf, messagesOf } from "./input.ts";
import { joined, mapped, placeOf, sequence } from "./lists.ts";
import { type Availability, isBlind, ready, stateNow } from "./readiness.ts";
import { type SamplingMode, samplingModeOf, settingsOf } from "./sampling.ts";
import { type Call, LanguageModelToolCall, type Tools, named, toolsOf } from "./tools.ts";
import type { Said, Wishes } from "./turn.ts";

type Fields = { [name: string]: unknown };

/** Only this file makes sessions. */
const OURS = {};

const SCHEMA_TYPES = ["object", "array", "string", "number", "integer", "boolean", "null"];

/** What a session is all its life, and its copies. */
interface Kind {
  expected: Expected;
  mode: SamplingMode;
}

/** What `create` and `availability` are told. */
interface Wanted extends Kind {
  expected: Expected & { isPossible: boolean };
  tools: Tools;
}

export class LanguageModel extends CapturedEventTarget {
  readonly #conversation: Conversation;
  readonly #kind: Kind;
  /** Aborts when the session ends. */
  readonly #life: Ending;
  #hasBegun = false;
  #handler: unknown = null;

  constructor(ours?: unknown, conversation?: Conversation, kind?: Kind, life?: Ending) {
    super();
    if (ours !== OURS) throw wrong("Illegal constructor");
    this.#conversation = conversation as Conversation;
    this.#kind = kind as Kind;
    this.#life = life as Ending;
    this.#hasBegun = !this.#conversation.isEmpty;
    this.#conversation.onOverflow = () => dispatchTo(this, new CapturedEvent("contextoverflow"));
    listenTo(this, "contextoverflow", (event) => {
      if (typeof this.#handler === "function") apply(this.#handler, this, [event]);
    });
  }

  static availability(options?: unknown): Promise<Availability> {
    return standardly(() => availabilityFor(wantedOf(fieldsOf(options)).expected));
  }

  static create(options?: unknown): Promise<LanguageModel> {
    return standardly(() => created(fieldsOf(options)));
  }

  prompt(input: unknown, options?: unknown): Promise<unknown> {
    return standardly(() => {
      const { drafts, wishes, ending } = this.#read(input, options);
      return answered(this.#conversation.prompt(drafts, wishes, ending));
    });
  }

  promptStreaming(input: unknown, options?: unknown): ReadableStream<unknown> {
    const { drafts, wishes, ending } = this.#read(input, options);
    return streamed<unknown>(this.#conversation, drafts, wishes, ending, {
      piece: (text) => text,
      end(said, put) {
        for (let at = 0; at < said.calls.length; at += 1) put(contentOf(said.calls[at] as Call));
      },
      failed: (error, out) => out.fail(standardError(error)),
    });
  }

  append(input: unknown, options?: unknown): Promise<void> {
    return standardly(() => {
      const { drafts, ending } = this.#read(input, options);
      return this.#conversation.append(drafts, ending);
    });
  }

  measureContextUsage(input: unknown, options?: unknown): Promise<number> {
    return standardly(() => {
      const fields = fieldsOf(options);
      wishesOf(fields);
      const ending = new Ending(this.#life.signal, signalIn(fields));
      ending.check();
      return measured(draftsOf(input, this.#kind.expected, true), ending);
    });
  }

  clone(options?: unknown): Promise<LanguageModel> {
    return standardly(() => {
      this.#life.check();
      const life = new Ending(signalIn(fieldsOf(options)));
      life.check();
      const copy = new LanguageModel(OURS, this.#conversation.copy(), this.#kind, life);
      // Later, as everywhere: who aborts at once gets no session.
      return unlessEnded(copy, life, this.#life);
    });
  }

  destroy(): void {
    if (!this.#life.isEnded) this.#life.end(domError("AbortError", "the session was destroyed"));
  }

  get contextUsage(): number {
    return this.#conversation.usage;
  }

  get contextWindow(): number {
    return this.#conversation.window;
  }

  get samplingMode(): SamplingMode {
    return this.#kind.mode;
  }

  get oncontextoverflow(): unknown {
    return this.#handler;
  }

  set oncontextoverflow(handler: unknown) {
    this.#handler = typeof handler === "function" ? handler : null;
  }

  /** Reads what a method is given; throws what is wrong with it, or why there is no session any more. */
  #read(input: unknown, options: unknown): { drafts: Draft[]; wishes: Wishes; ending: Ending } {
    const fields = fieldsOf(options);
    const wishes = wishesOf(fields);
    const drafts = draftsOf(input, this.#kind.expected, !this.#hasBegun);
    const ending = new Ending(this.#life.signal, signalIn(fields));
    ending.check();
    this.#hasBegun ||= drafts.length > 0;
    return { drafts, wishes, ending };
  }
}

named(LanguageModel, "LanguageModel");
// So that a page can tell that this is not the browser's own.
defineProperty(LanguageModel, "isHarbor", shown(true));

/** What `monitor` is called with. */
class CreateMonitor extends CapturedEventTarget {
  ondownloadprogress: unknown = null;
}

named(CreateMonitor, "CreateMonitor");

function fieldsOf(options: unknown): Fields {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object" && typeof options !== "function") throw wrong("options must be a dictionary");
  return options as Fields;
}

function wantedOf(options: Fields): Wanted {
  const expected = expectedOf(options);
  // `temperature` and `topK` are for extensions alone, and are ignored beside it, as everywhere.
  return { expected, tools: toolsOf(options["tools"], expected.toolCall), mode: samplingModeOf(options["samplingMode"]) };
}

async function availabilityFor({ isPossible, image }: ReturnType<typeof expectedOf>): Promise<Availability> {
  const state = await stateNow();
  return isPossible && !isBlind(state, image) ? state.state : "unavailable";
}

async function created(options: Fields): Promise<LanguageModel> {
  const wanted = wantedOf(options);
  const { expected, tools, mode } = wanted;
  const { initialPrompts, monitor } = options;
  const prompts = initialPrompts === undefined ? [] : sequence(initialPrompts);
  if (prompts === undefined) throw wrong("initialPrompts must be a sequence of messages");
  const drafts = draftsOf(prompts, expected, true);
  const life = new Ending(signalIn(options));
  life.check();
  const progress = progressOf(monitor);
  if (!expected.isPossible) throw notSupported("no model of the person accepts or gives this");
  const { window } = await unlessEnded(ready(expected.image, life, progress), life);
  const history = heldBy(window ?? Infinity, await messagesOf(drafts));
  life.check();
  return new LanguageModel(OURS, new Conversation(tools, settingsOf(mode), window ?? Infinity, history), wanted, life);
}

/** What is told how far it is. Throws what the page's function throws. */
function progressOf(monitor: unknown): (loaded: number) => void {
  if (monitor === undefined || monitor === null) return () => undefined;
  if (typeof monitor !== "function") throw wrong("monitor must be a function");
  const target = new CreateMonitor();
  apply(monitor, undefined, [target]);
  return (loaded) => {
    const event = new CapturedProgressEvent("downloadprogress", { __proto__: null, lengthComputable: true, loaded, total: 1 } as ProgressEventInit);
    dispatchTo(target, event);
    if (typeof target.ondownloadprogress === "function") apply(target.ondownloadprogress, target, [event]);
  };
}

/** What else a prompt is told. */
function wishesOf(options: Fields): Wishes {
  const { responseConstraint: constraint, omitResponseConstraintInput: omit } = options;
  if (constraint === undefined && omit) throw wrong("omitResponseConstraintInput takes a responseConstraint");
  if (constraint === undefined) return {};
  if (!isObject(constraint)) throw wrong("responseConstraint must be an object");
  if (isRegExp(constraint)) throw notSupported("no model of the person can be constrained by a regular expression");
  let schema: Fields;
  try {
    schema = parse(stringify(constraint)) as Fields;
  } catch {
    throw notSupported("JSON cannot express the schema");
  }
  const { type } = schema;
  if (typeof type === "string" && placeOf(SCHEMA_TYPES, (known) => known === type) < 0) throw notSupported(`no schema has the type ${type}`);
  return { response_schema: schema };
}

function isRegExp(value: object): boolean {
  try {
    return typeof sourceOf(value as RegExp) === "string";
  } catch {
    return false;
  }
}

/** By its length: a provider would count on the person's account, and get a text that nobody has prompted it with. */
async function measured(drafts: readonly Draft[], ending: Ending): Promise<number> {
  const messages = await messagesOf(drafts);
  ending.check();
  return estimateOf(messages);
}

const contentOf = ({ id, name, arguments: args }: Call) => ({
  type: "tool-call",
  value: new LanguageModelToolCall({ callID: id, name, arguments: args }),
});

/** A text; where there are calls for the page to run, what was said in its parts. */
async function answered(prompted: Promise<Said>): Promise<unknown> {
  const { text, calls } = await prompted;
  if (calls.length === 0) return text;
  const parts: unknown[] = mapped(calls, contentOf);
  return text === "" ? parts : joined([{ type: "text", value: text }], parts);
}

/** What it begins, with its failure in the standard's words; what it throws at once says itself what is wrong. */
function standardly<T>(begin: () => Promise<T>): Promise<T> {
  return attempt(() => {
    const work = begin();
    return new CapturedPromise((resolve, reject) => {
      then(work, resolve as (value: unknown) => void, (error) => reject(standardError(error)));
    });
  });
}

/** What `work` gives, unless one of these ends before. */
function unlessEnded<T>(work: Promise<T> | T, life: Ending, other?: Ending): Promise<T> {
  return new CapturedPromise((resolve, reject) => {
    life.onEnd(reject);
    other?.onEnd(reject);
    const value = (async () => await work)();
    then(value, resolve as (value: unknown) => void, reject);
  });
}
