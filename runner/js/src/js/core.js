// What every script has at once: MCP, process, console, timers, crypto; and what it gets when it first asks for it.
//
// Owns the global object. It is evaluated before the script, which may change any built-in object later: what is used
// afterwards is kept here. Must never give a script `native` itself.
(function (native) {
  "use strict";
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf } = Object;
  const { apply } = Reflect;
  const wellFormed = String.prototype.toWellFormed;
  const { get, set, delete: remove } = Map.prototype;
  const PromiseHere = Promise;
  const then = Promise.prototype.then;
  const settled = Promise.resolve();
  const ErrorHere = Error;
  const text = String;

  const give = (name, value) =>
    defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // The lines.
  const waiting = new Map();
  let [first, next] = [0, 0];

  const readLine = () =>
    new PromiseHere((resolve, reject) => {
      apply(set, waiting, [next++, { resolve, reject }]);
      native.want();
    });

  const writeLine = (line) => {
    if (typeof line !== "string") throw new TypeError("MCP.writeLine takes a string; use JSON.stringify for an object");
    const wrong = native.write(apply(wellFormed, line, []));
    if (wrong) throw new RangeError(wrong);
  };

  // The timers: which is due when is native's.
  const timers = new Map();

  const start = (repeats) => (callback, delay, ...args) => {
    if (typeof callback !== "function") throw new TypeError("a timer needs a function");
    const ms = repeats ? at_least(1, delay) : at_least(0, delay);
    const id = native.arm(ms);
    if (id === 0) throw new RangeError("there are 1000 timers already; clear some, or wait until they have fired");
    apply(set, timers, [id, { callback, args, ms, repeats }]);
    return id;
  };

  const at_least = (least, delay) => {
    const ms = +delay;
    return ms > least ? (ms < 0x7fffffff ? ms : 0x7fffffff) : least;
  };

  const stop = (id) => {
    if (apply(remove, timers, [id])) native.disarm(id);
  };

  const fire = (id) => {
    const timer = apply(get, timers, [id]);
    if (!timer) return;
    if (timer.repeats) native.rearm(id, timer.ms);
    else apply(remove, timers, [id]);
    apply(timer.callback, undefined, timer.args);
  };

  const queueMicrotask = (callback) => {
    if (typeof callback !== "function") throw new TypeError("queueMicrotask needs a function");
    apply(then, settled, [() => { callback(); }]);
  };

  // The log.
  const { stringify } = JSON;
  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof ErrorHere) return value.stack ? `${value}\n${value.stack}` : `${value}`;
    if (typeof value === "function") return `[function ${value.name}]`;
    if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : text(value);
    try {
      return stringify(value, (_, inner) => (typeof inner === "bigint" ? `${inner}n` : inner)) ?? "undefined";
    } catch {
      return "[an object that JSON cannot show]";
    }
  };
  const log = (prefix) => (...values) => {
    let line = prefix;
    for (let at = 0; at < values.length; at++) line += (at ? " " : "") + shown(values[at]);
    native.log(apply(wellFormed, line, []));
  };

  // Random numbers.
  const Bytes = Uint8Array;
  const kind = getOwnPropertyDescriptor(getPrototypeOf(Bytes.prototype), Symbol.toStringTag).get;
  const fill = Bytes.prototype.set;
  const INTEGERS =
    ["Int8", "Uint8", "Uint8Clamped", "Int16", "Uint16", "Int32", "Uint32", "BigInt64", "BigUint64"].map((name) => `${name}Array`);
  const crypto = {
    getRandomValues(view) {
      let known = false;
      for (let at = 0; at < INTEGERS.length; at++) known ||= INTEGERS[at] === apply(kind, view, []);
      if (!known) throw new TypeError("crypto.getRandomValues takes an array of integers, such as a Uint8Array");
      if (view.byteLength > 65536) throw new RangeError("crypto.getRandomValues gives at most 65536 bytes at once");
      apply(fill, new Bytes(view.buffer, view.byteOffset, view.byteLength), [native.random(view.byteLength)]);
      return view;
    },
    randomUUID: () => native.uuid(),
  };

  give("MCP", freeze({ readLine, writeLine }));
  give("process", freeze({ env: freeze(native.env()) }));
  give("console", {
    log: log(""), info: log(""), debug: log("debug: "), warn: log("warning: "), error: log("error: "),
  });
  give("setTimeout", start(false));
  give("setInterval", start(true));
  give("clearTimeout", stop);
  give("clearInterval", stop);
  give("queueMicrotask", queueMicrotask);
  give("crypto", crypto);

  // The rest costs memory only in scripts that use it.
  const later = (piece, names, done) => {
    for (const name of names) {
      const replace = () => {
        const made = native.piece(piece);
        if (done) done(made);
        for (const other of names) {
          const now = getOwnPropertyDescriptor(globalThis, other);
          if (now && now.get && now.get.of === piece) give(other, made[other]);
        }
        return made[name];
      };
      replace.of = piece;
      defineProperty(globalThis, name, { get: replace, set: (value) => give(name, value), configurable: true });
    }
  };
  later("text", ["TextEncoder", "TextDecoder"]);
  later("url", ["URL", "URLSearchParams"]);
  later("abort", ["AbortController", "AbortSignal"]);
  later("clone", ["structuredClone"]);
  // The hook `fetched` stays here: a script could answer its own requests, no more, but has no use for it.
  let fetched;
  if (native.fetches) later("fetch", ["fetch", "Headers", "Response"], (made) => { fetched = made.fetched; });

  // A text is never run as a program.
  const refuse = () => {
    throw new TypeError("a text cannot be run as a program here: eval and new Function do not exist");
  };
  for (const made of [function () {}, async function () {}, function* () {}, async function* () {}]) {
    const prototype = getPrototypeOf(made);
    const constructor = function Function() { refuse(); };
    constructor.prototype = prototype;
    defineProperty(prototype, "constructor", { value: constructor, writable: false, configurable: false });
    if (prototype === Function.prototype) give("Function", constructor);
  }
  delete globalThis.eval;

  return {
    fire,
    /** A line came: its text, null at the end, or an error. */
    line(value, error) {
      const at = first++;
      const reader = apply(get, waiting, [at]);
      apply(remove, waiting, [at]);
      if (error) reader.reject(new TypeError(error));
      else reader.resolve(value);
    },
    /** A request has ended. */
    fetched(id, error, answer) {
      fetched(id, error, answer);
    },
    /** An error's words and stack. */
    shown(error) {
      try {
        return shown(error);
      } catch {
        return "an error that cannot be shown";
      }
    },
  };
})
