// What views work with: the state, questions to the background, and things that take a while.
//
// Owns what is under way. Must never let a failure go unsaid: it stands where the person has begun it.

import type { CallOptions } from "../../shared/ports/caller.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { failureOf } from "../../shared/protocol/codes.ts";
import type { Replies, Requests } from "../../shared/protocol/generated/messages.ts";
import type { PAGE_TOOLS } from "../page_source/view.ts";
import type { Allowed } from "./allowed.ts";
import type { CLIENT_TOOLS } from "./clients.ts";
import type { Child } from "./dom.ts";
import { type Route, hrefOf } from "./route.ts";
import type { BROWSER_TOOLS, PAGE_FLAGS, PAGE_HOSTS, PAGE_OPTIONS, SidebarPushes } from "./serve.ts";
import type { Detail, State, Store } from "./store.ts";

/** One place of the sidebar. */
export interface View<R extends Route = Route> {
  title(state: State, route: R): string;
  /** Begins what it shows, also again after the connection was lost; the signal is aborted when the person leaves. */
  enter?(hands: Hands, route: R, signal: AbortSignal): void;
  /** Something was pushed while it is shown. */
  heard?(hands: Hands, route: R, type: keyof SidebarPushes, payload: Fields): void;
  show(hands: Hands, route: R): Child[];
  /** What stays above and below while the rest scrolls. */
  top?(hands: Hands, route: R): Child[];
  foot?(hands: Hands, route: R): Child[];
}

/** How long a remark stays. */
const SAID_MS = 6_000;

type Call = (type: string, payload: Fields, options?: CallOptions) => Promise<unknown>;

export class Hands {
  readonly #store: Store;
  readonly #call: Call;
  readonly #under = new Map<string, AbortController>();
  readonly #again = new Map<string, () => void>();
  /** Aborted when the person leaves the place that is shown. */
  here: AbortSignal | undefined;
  /** What is said at the place that is on its way. */
  #toSay: string | undefined;
  #saying: ReturnType<typeof setTimeout> | undefined;

  constructor(store: Store, call: Call) {
    this.#store = store;
    this.#call = call;
  }

  get state(): State {
    return this.#store.state;
  }

  change(patch: Partial<State>): void {
    this.#store.change(patch);
  }

  /** Changes what is known of the server that is looked at, if it still is that one. */
  learn(id: string, patch: Partial<Detail>): void {
    const { detail } = this.state;
    if (detail?.id === id) this.change({ detail: { ...detail, ...patch } });
  }

  ask<T extends Allowed>(type: T, fields: Requests[T], options?: CallOptions): Promise<Replies[T]> {
    return this.#call(type, { ...fields }, options) as Promise<Replies[T]>;
  }

  /** Asks the background itself, not the bridge. */
  own(type: typeof PAGE_OPTIONS | typeof PAGE_FLAGS | typeof PAGE_HOSTS | typeof PAGE_TOOLS | typeof BROWSER_TOOLS | typeof CLIENT_TOOLS, fields: Fields = {}): Promise<unknown> {
    return this.#call(type, fields);
  }

  /** Begins something, unless it is under way; what `left` aborts is as if it had never been begun. */
  act(name: string, work: (signal: AbortSignal) => Promise<void>, left?: AbortSignal): void {
    if (this.#under.get(name)?.signal.aborted === false || left?.aborted === true) return;
    const controller = new AbortController();
    this.#under.set(name, controller);
    const leave = () => controller.abort();
    left?.addEventListener("abort", leave);
    this.#note(name, "busy");
    const ended = (act: State["acts"][string] | undefined) => {
      left?.removeEventListener("abort", leave);
      // What was begun again meanwhile is another one.
      if (this.#under.get(name) !== controller) return;
      this.#under.delete(name);
      this.#note(name, act);
      const again = this.#again.get(name);
      this.#again.delete(name);
      again?.();
    };
    void work(controller.signal).then(
      () => ended(undefined),
      (error: unknown) => ended(controller.signal.aborted ? undefined : failureOf(error)),
    );
  }

  /** Reads something that changes; where that is under way already it is read once more after it. */
  read(name: string, work: (signal: AbortSignal) => Promise<void>, left?: AbortSignal): void {
    if (this.#under.get(name)?.signal.aborted === false) this.#again.set(name, () => this.act(name, work, left));
    else this.act(name, work, left);
  }

  /** Ends something that is under way. */
  cancel(name: string): void {
    this.#under.get(name)?.abort();
  }

  isBusy(name: string): boolean {
    return this.state.acts[name] === "busy";
  }

  /** Says that something has failed which was not begun by `act`. */
  fail(name: string, error: unknown): void {
    this.#note(name, failureOf(error));
  }

  /** Takes back what is said about failures. */
  forget(): void {
    const acts = Object.fromEntries(Object.entries(this.state.acts).filter(([, act]) => act === "busy"));
    this.change({ acts });
  }

  /** Says something for a moment. */
  say(said: string): void {
    clearTimeout(this.#saying);
    this.#saying = setTimeout(() => this.change({ said: "" }), SAID_MS);
    this.change({ said });
  }

  /** What was said is over: it was about something that the person has done anew, or left. */
  hush(): void {
    clearTimeout(this.#saying);
    if (this.state.said !== "") this.change({ said: "" });
  }

  /** Goes to a place, and says this there. */
  go(route: Route, said?: string): void {
    const href = hrefOf(route);
    if (location.hash === href) {
      if (said !== undefined) this.say(said);
      return;
    }
    this.#toSay = said;
    location.hash = href;
  }

  /** The person is somewhere else now. */
  arrived(): void {
    const said = this.#toSay;
    this.#toSay = undefined;
    if (said === undefined) this.hush();
    else this.say(said);
  }

  #note(name: string, act: State["acts"][string] | undefined): void {
    const { [name]: _, ...acts } = this.state.acts;
    this.change({ acts: act === undefined ? acts : { ...acts, [name]: act } });
  }
}
