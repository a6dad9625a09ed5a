// AbortController and AbortSignal: how a caller says that it does not wait any more.
(function () {
  "use strict";
  const KEY = Symbol("only a controller makes a signal");

  class AbortSignal {
    #reason;
    #aborted = false;
    #listeners = new Map();
    onabort = null;
    constructor(key, start) {
      if (key !== KEY) throw new TypeError("make an AbortController, and use its signal");
      start((reason) => {
        if (this.#aborted) return;
        this.#aborted = true;
        this.#reason = reason === undefined ? new DOMException("it was cancelled", "AbortError") : reason;
        this.#tell();
      });
    }
    static abort(reason) {
      const controller = new AbortController();
      controller.abort(reason);
      return controller.signal;
    }
    static timeout(ms) {
      const controller = new AbortController();
      setTimeout(() => controller.abort(new DOMException("it took too long", "TimeoutError")), ms);
      return controller.signal;
    }
    static any(signals) {
      const controller = new AbortController();
      for (const signal of signals) {
        if (signal.aborted) controller.abort(signal.reason);
        else signal.addEventListener("abort", () => controller.abort(signal.reason), { once: true });
      }
      return controller.signal;
    }
    get aborted() {
      return this.#aborted;
    }
    get reason() {
      return this.#reason;
    }
    throwIfAborted() {
      if (this.#aborted) throw this.#reason;
    }
    addEventListener(type, listener, options) {
      const once = typeof options === "object" && options !== null && Boolean(options.once);
      if (type === "abort" && listener && !this.#listeners.has(listener)) this.#listeners.set(listener, once);
    }
    removeEventListener(type, listener) {
      if (type === "abort") this.#listeners.delete(listener);
    }
    #tell() {
      const event = { type: "abort", target: this };
      const all = [...this.#listeners.keys()];
      if (typeof this.onabort === "function") all.unshift(this.onabort);
      for (const [listener, once] of this.#listeners) if (once) this.#listeners.delete(listener);
      for (const listener of all) {
        try {
          if (typeof listener === "function") listener.call(this, event);
          else listener.handleEvent(event);
        } catch (error) {
          console.error(error);
        }
      }
    }
  }

  class AbortController {
    #abort;
    #signal = new AbortSignal(KEY, (abort) => { this.#abort = abort; });
    get signal() {
      return this.#signal;
    }
    abort(reason) {
      this.#abort(reason);
    }
  }

  return { AbortController, AbortSignal };
})
