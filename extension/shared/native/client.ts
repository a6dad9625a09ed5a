// The client of the bridge: hello, requests with their answers, pushes, over the port to the native host.
//
// Owns that port and the requests on it. Must never send a request twice: what was sent when the port closed fails, since a
// tool may have run. When the port is opened is decided in reconnect.ts.

import type { Port } from "../browser/api.ts";
import { type Fields, isFields } from "../ports/wire.ts";
import { CodedError, parseFailure } from "../protocol/codes.ts";
import { PROTOCOL, type Pushes, type Replies, type Requests } from "../protocol/generated/messages.ts";
import { Chunks } from "./chunks.ts";
import { type Action, type Event, type Reason, START, type State, deadline, step } from "./reconnect.ts";

/** The largest frame either way, in bytes: what Chromium takes from a native host. */
export const MAX_FRAME = 1024 * 1024;

const HELLO_ID = "hello";

/** What the client needs of its surroundings. */
export interface Surroundings {
  connect(): Port;
  now(): number;
  /** Calls back once, after so many milliseconds; the result takes that back. */
  after(ms: number, call: () => void): () => void;
  /** A random id that stays as long as the browser runs. */
  browserSession(): Promise<string>;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((progress: Pushes["progress"]) => void) | undefined;
  /** Called with what the bridge pushes of a request that streams, in order and without a gap. */
  onEvent?: ((event: unknown) => void) | undefined;
  /** Called with what a server asks about the request, where the request said that it can be answered. */
  onAsk?: ((ask: Pushes["ask"]) => void) | undefined;
  /** Called once the request is sent, with how credit for further pushes is given. */
  begun?: ((more: (n: number) => void) => void) | undefined;
}

/** Requests that stream: what the bridge pushes of them, and how it is given credit. */
const STREAMS = {
  host_llm_chat: { push: "llm_event", more: "llm_more" },
  run_start: { push: "run_event", more: "run_more" },
} as const;
const PUSHES: string[] = Object.values(STREAMS).map(({ push }) => push);

type Greeting = Replies["hello"];
type Listener = (type: string, fields: Fields) => void;

interface Open {
  resolve(reply: never): void;
  reject(error: unknown): void;
  onProgress: RequestOptions["onProgress"];
  onEvent: RequestOptions["onEvent"];
  onAsk: RequestOptions["onAsk"];
  /** The number of the push that comes next. */
  next: number;
  done(): void;
}

export class NativeClient {
  readonly #around: Surroundings;
  readonly #open = new Map<string, Open>();
  readonly #waiting = new Set<{ go(): void; fail(error: CodedError): void }>();
  readonly #stateListeners = new Set<() => void>();
  readonly #pushListeners = new Set<Listener>();
  #chunks = new Chunks();
  #state: State = START;
  #port: Port | undefined;
  #greeting: Greeting | undefined;
  #stopTimer: (() => void) | undefined;
  #watchers = 0;
  #last = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  get state(): State {
    return this.#state;
  }

  /** Who the bridge is, while connected. */
  get greeting(): Greeting | undefined {
    return this.#state.is === "ready" ? this.#greeting : undefined;
  }

  /** Called at each change of the state. */
  onState(listener: () => void): void {
    this.#stateListeners.add(listener);
  }

  /** Called with what the bridge sends unasked. */
  onPush(listener: Listener): void {
    this.#pushListeners.add(listener);
  }

  /** Keeps the connection up until the result is called. */
  watch(): () => void {
    this.#watchers += 1;
    this.#happened({ is: "want" });
    let watching = true;
    return () => {
      if (watching) this.#watchers -= 1;
      watching = false;
    };
  }

  /** Asks the bridge, once there is a connection; rejects with a `CodedError`, or with the signal's reason. */
  async request<T extends keyof Requests & keyof Replies>(
    type: T,
    fields: Requests[T],
    options: RequestOptions = {},
  ): Promise<Replies[T]> {
    options.signal?.throwIfAborted();
    if (this.#state.is !== "ready") await this.#ready(options.signal);
    return this.#send(type, fields, options);
  }

  #ready(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        this.#waiting.delete(waiter);
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => (end(), reject(signal?.reason));
      const waiter = {
        go: () => (end(), resolve()),
        fail: (error: CodedError) => (end(), reject(error)),
      };
      this.#waiting.add(waiter);
      signal?.addEventListener("abort", abort);
      this.#happened({ is: "want" });
    });
  }

  #send<T extends keyof Requests & keyof Replies>(
    type: T,
    fields: Requests[T],
    { signal, onProgress, onEvent, onAsk, begun }: RequestOptions,
  ): Promise<Replies[T]> {
    return new Promise((resolve, reject) => {
      const port = this.#port;
      if (port === undefined || this.#state.is !== "ready") {
        reject(lost());
        return;
      }
      const id = String(++this.#last);
      const message = { ...fields, type, request_id: id };
      if (!fits(message)) {
        reject(new CodedError("ERR_INVALID_REQUEST", `a request must have less than ${MAX_FRAME} bytes`));
        return;
      }
      const abort = () => this.#abort(id, signal?.reason);
      const done = () => signal?.removeEventListener("abort", abort);
      this.#open.set(id, { resolve, reject, onProgress, onEvent, onAsk, next: 0, done });
      signal?.addEventListener("abort", abort);
      port.post(message);
      begun?.((n) => this.#more(type, id, n));
    });
  }

  #more(type: string, id: string, n: number): void {
    const stream = STREAMS[type as keyof typeof STREAMS];
    if (stream !== undefined && this.#open.has(id)) this.#port?.post({ type: stream.more, request_id: `more ${++this.#last}`, target: id, n });
  }

  #abort(id: string, reason: unknown): void {
    const open = this.#end(id);
    if (open === undefined) return;
    this.#port?.post({ type: "cancel", request_id: `cancel ${id}`, target: id });
    open.reject(reason);
  }

  #end(id: string): Open | undefined {
    const open = this.#open.get(id);
    this.#open.delete(id);
    this.#chunks.forget(id);
    open?.done();
    return open;
  }

  #happened(event: Event): void {
    const before = this.#state;
    const { state, actions } = step(before, event, this.#around.now());
    this.#state = state;
    this.#stopTimer?.();
    const until = deadline(state);
    const wait = until === undefined ? undefined : Math.max(0, until - this.#around.now());
    const due = () => this.#happened({ is: "due", wanted: this.#wanted() });
    this.#stopTimer = wait === undefined ? undefined : this.#around.after(wait, due);
    for (const action of actions) this.#perform(action);
    if (this.#state !== state) return;
    if (state.is === "ready" && before.is !== "ready") for (const waiter of [...this.#waiting]) waiter.go();
    if (state !== before) for (const listener of this.#stateListeners) listener();
  }

  #wanted(): boolean {
    return this.#watchers > 0 || this.#waiting.size > 0;
  }

  #perform(action: Action): void {
    switch (action.do) {
      case "connect":
        this.#connect();
        break;
      case "disconnect":
        this.#drop();
        break;
      case "fail_waiting":
        for (const waiter of [...this.#waiting]) waiter.fail(notConnected(action.reason));
        break;
    }
  }

  #connect(): void {
    const port = this.#around.connect();
    this.#port = port;
    this.#chunks = new Chunks();
    port.onMessage((message) => {
      if (this.#port === port) this.#heard(message);
    });
    port.onDisconnect((text) => {
      if (this.#port !== port) return;
      this.#drop();
      this.#happened({ is: "closed", text, wanted: this.#wanted() });
    });
    void this.#around.browserSession().then((browser_session) => {
      if (this.#port !== port) return;
      const hello: Requests["hello"] = {
        protocol: PROTOCOL,
        client: "harbor extension",
        chunks: true,
        max_frame: MAX_FRAME,
        browser_session,
      };
      port.post({ ...hello, type: "hello", request_id: HELLO_ID });
    });
  }

  /** Closes the port. What was sent may have run, and fails. */
  #drop(): void {
    const port = this.#port;
    this.#port = undefined;
    port?.disconnect();
    for (const id of [...this.#open.keys()]) this.#end(id)?.reject(lost());
  }

  #heard(message: unknown): void {
    if (!isFields(message) || typeof message["type"] !== "string") return;
    const { type, request_id: id } = message;
    if (type === "chunk") {
      this.#heardChunk(message as unknown as Pushes["chunk"]);
    } else if (type === "error" && (id === HELLO_ID || (id === "" && this.#state.is === "connecting"))) {
      const { code, message: text, details } = parseFailure(message["error"]);
      this.#happened({ is: "refused", code, message: text, details });
    } else if (type === "hello_result" && id === HELLO_ID) {
      this.#greeting = message as unknown as Greeting;
      this.#happened({ is: "hello_accepted" });
    } else if (type === "ask") {
      this.#open.get(String(id))?.onAsk?.(message as unknown as Pushes["ask"]);
    } else if (typeof id === "string") {
      this.#heardAbout(id, type, message);
    } else {
      for (const listener of this.#pushListeners) listener(type, message);
    }
  }

  #heardAbout(id: string, type: string, message: Fields): void {
    if (type === "progress") {
      this.#open.get(id)?.onProgress?.(message as unknown as Pushes["progress"]);
      return;
    }
    if (PUSHES.includes(type)) {
      this.#heardEvent(id, message);
      return;
    }
    const open = this.#end(id);
    if (type === "error") {
      const { code, message: text, details } = parseFailure(message["error"]);
      open?.reject(new CodedError(code, text, details));
    } else {
      open?.resolve(message as never);
    }
  }

  #heardEvent(id: string, { seq, event }: Fields): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    if (seq === open.next) {
      open.next += 1;
      open.onEvent?.(event);
    } else this.#abort(id, new CodedError("ERR_PROTOCOL_ERROR", "a piece of an answer is missing"));
  }

  #heardChunk(chunk: Pushes["chunk"]): void {
    if (!this.#open.has(chunk.request_id)) return;
    const joined = this.#chunks.add(chunk);
    if (joined.is === "whole") this.#heard(joined.message);
    if (joined.is === "broken") {
      this.#end(chunk.request_id)?.reject(new CodedError("ERR_PROTOCOL_ERROR", joined.why));
    }
  }
}

function fits(message: unknown): boolean {
  const text = JSON.stringify(message);
  // No letter of UTF-16 takes more than three bytes.
  return text.length * 3 < MAX_FRAME || new TextEncoder().encode(text).length < MAX_FRAME;
}

function lost(): CodedError {
  const text = "the connection to Harbor's bridge was lost; the request may have been performed";
  return new CodedError("ERR_BRIDGE_NOT_CONNECTED", text);
}

function notConnected({ cause, message }: Reason): CodedError {
  return new CodedError(cause === "version" ? "ERR_VERSION_MISMATCH" : "ERR_BRIDGE_NOT_CONNECTED", message, { cause });
}
