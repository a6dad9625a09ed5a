// fetch, Headers and Response, where the server may reach hosts.
//
// Owns what of the Fetch Standard is here, and which requests wait: a few are sent at once. Bodies are whole: no streams. Must
// never make a request that the script did not ask for.
(function (native) {
  "use strict";
  const REDIRECTS = ["follow", "error", "manual"];
  const MOST = native.most_fetches;

  class Headers {
    #all = new Map();
    constructor(init = undefined) {
      if (init === undefined || init === null) return;
      if (typeof init !== "object") throw new TypeError("new Headers takes an object, pairs, or Headers");
      const pairs = typeof init[Symbol.iterator] === "function" ? init : Object.entries(init);
      for (const pair of pairs) {
        const [name, value, ...rest] = pair;
        if (value === undefined || rest.length) throw new TypeError("new Headers takes pairs of a name and a value");
        this.append(name, value);
      }
    }
    static #name(name) {
      if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name)) throw new TypeError(`${JSON.stringify(`${name}`)} is no name of a header`);
      return `${name}`.toLowerCase();
    }
    static #value(value) {
      const trimmed = `${value}`.replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
      if (/[^\t\x20-\x7e\x80-\xff]/.test(trimmed)) throw new TypeError("the value of a header is one line of Latin-1");
      return trimmed;
    }
    append(name, value) {
      const key = Headers.#name(name);
      const text = Headers.#value(value);
      this.#all.set(key, [...(this.#all.get(key) ?? []), text]);
    }
    set(name, value) {
      const text = Headers.#value(value);
      this.#all.set(Headers.#name(name), [text]);
    }
    get(name) {
      return this.#all.get(Headers.#name(name))?.join(", ") ?? null;
    }
    getSetCookie() {
      return [...(this.#all.get("set-cookie") ?? [])];
    }
    has(name) {
      return this.#all.has(Headers.#name(name));
    }
    delete(name) {
      this.#all.delete(Headers.#name(name));
    }
    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
      for (const name of [...this.#all.keys()].sort()) {
        const values = this.#all.get(name) ?? [];
        if (name !== "set-cookie") yield [name, values.join(", ")];
        else for (const value of values) yield [name, value];
      }
    }
    *keys() {
      for (const [name] of this) yield name;
    }
    *values() {
      for (const [, value] of this) yield value;
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    get [Symbol.toStringTag]() {
      return "Headers";
    }
  }

  /** Bytes as a text of as many characters, the way in which they cross to the program. */
  const binary_of = (bytes) => {
    let binary = "";
    for (let at = 0; at < bytes.length; at += 8192) {
      binary += Reflect.apply(String.fromCharCode, null, bytes.subarray(at, at + 8192));
    }
    return binary;
  };

  /** A body as a text or as bytes of its own, and its type where the script names none. */
  const body_of = (body) => {
    if (body === undefined || body === null) return [null, null];
    if (typeof body === "string") return [body.toWellFormed(), "text/plain;charset=UTF-8"];
    if (body instanceof ArrayBuffer) return [new Uint8Array(body.slice(0)), null];
    if (ArrayBuffer.isView(body)) return [new Uint8Array(body.buffer, body.byteOffset, body.byteLength).slice(), null];
    if (body instanceof URLSearchParams) return [`${body}`, "application/x-www-form-urlencoded;charset=UTF-8"];
    throw new TypeError("a body is a string, a Uint8Array, an ArrayBuffer or URLSearchParams; use JSON.stringify for an object");
  };

  class Response {
    #bytes;
    #used = false;
    #status;
    #statusText;
    #headers;
    #url = "";
    #redirected = false;
    constructor(body = null, { status = 200, statusText = "", headers } = {}) {
      if (!(status >= 200 && status <= 599)) throw new RangeError("the status of a Response is from 200 to 599");
      const [own, type] = body_of(body);
      this.#bytes = typeof own === "string" ? native.encode(own) : own;
      this.#status = Math.trunc(status);
      this.#statusText = `${statusText}`;
      this.#headers = new Headers(headers);
      if (type && !this.#headers.has("content-type")) this.#headers.set("content-type", type);
    }
    static of(answer) {
      const made = new Response();
      made.#bytes = answer.body;
      made.#status = answer.status;
      made.#statusText = answer.statusText;
      made.#url = answer.url;
      made.#redirected = answer.redirected;
      // A server's values may be such that a script could not set.
      for (const [name, value] of answer.headers) {
        try {
          made.#headers.append(name, value);
        } catch {}
      }
      return made;
    }
    static json(value, init = {}) {
      const headers = new Headers(init.headers);
      if (!headers.has("content-type")) headers.set("content-type", "application/json");
      return new Response(JSON.stringify(value), { ...init, headers });
    }
    get status() {
      return this.#status;
    }
    get statusText() {
      return this.#statusText;
    }
    get ok() {
      return this.#status >= 200 && this.#status <= 299;
    }
    get headers() {
      return this.#headers;
    }
    get url() {
      return this.#url;
    }
    get redirected() {
      return this.#redirected;
    }
    get bodyUsed() {
      return this.#used;
    }
    clone() {
      if (this.#used) throw new TypeError("the body was read already");
      const made = new Response(this.#bytes, this);
      made.#url = this.#url;
      made.#redirected = this.#redirected;
      return made;
    }
    #take() {
      if (this.#used) throw new TypeError("the body was read already; it can be read once");
      this.#used = this.#bytes !== null;
      const bytes = this.#bytes ?? new Uint8Array(0);
      this.#bytes = null;
      return bytes;
    }
    async bytes() {
      return this.#take();
    }
    async arrayBuffer() {
      return this.#take().buffer;
    }
    async text() {
      return native.text(binary_of(this.#take()));
    }
    async json() {
      return JSON.parse(await this.text());
    }
    get [Symbol.toStringTag]() {
      return "Response";
    }
  }
  const answered = Response.of;
  delete Response.of;

  /** A request as `ask` takes it. */
  const request_of = (input, init) => {
    const from = typeof input === "object" && input !== null && typeof input.url === "string" ? input : {};
    const pick = (name) => (init[name] === undefined ? from[name] : init[name]);
    const url = native.url((from.url ?? `${input}`).toWellFormed());
    if (!url) throw new TypeError(`fetch: ${JSON.stringify(from.url ?? `${input}`)} is no absolute URL`);
    let method = `${pick("method") ?? "GET"}`;
    if (/^(delete|get|head|options|post|put)$/i.test(method)) method = method.toUpperCase();
    const redirect = `${pick("redirect") ?? "follow"}`;
    if (!REDIRECTS.includes(redirect)) throw new TypeError("fetch: redirect is \"follow\", \"error\" or \"manual\"");
    const headers = new Headers(pick("headers"));
    const [body, type] = body_of(pick("body"));
    if (body !== null && (method === "GET" || method === "HEAD")) throw new TypeError(`fetch: a ${method} request has no body`);
    if (type && !headers.has("content-type")) headers.set("content-type", type);
    if (!headers.has("accept")) headers.set("accept", "*/*");
    const signal = pick("signal") ?? undefined;
    if (signal !== undefined && typeof signal.addEventListener !== "function") {
      throw new TypeError("fetch: signal is the signal of an AbortController");
    }
    return { url: url.href, method, redirect, headers: [...headers], body, signal };
  };

  let last = 0;
  /** The requests that were sent, by their numbers. */
  const open = new Map();
  /** Those that are not sent yet. */
  const waiting = new Set();

  const settle = (job, how, value) => {
    open.delete(job.id);
    waiting.delete(job);
    job.request.signal?.removeEventListener("abort", job.aborted);
    job[how](value);
    send();
  };

  const send = () => {
    for (const job of waiting) {
      if (open.size >= MOST) return;
      waiting.delete(job);
      open.set(job.id, job);
      const { method, url, headers, body, redirect } = job.request;
      const text = typeof body === "string" ? body : undefined;
      const binary = body === null || text !== undefined ? undefined : binary_of(body);
      const wrong = native.ask({ id: job.id, method, url, headers, text, binary, redirect });
      // What is sent is not kept here as well.
      job.request.body = null;
      if (wrong) return settle(job, "reject", new TypeError(`fetch failed: ${wrong}`));
    }
  };

  const fetch = (input, init) =>
    new Promise((resolve, reject) => {
      const request = request_of(input, init ?? {});
      const { signal } = request;
      if (signal?.aborted) throw signal.reason;
      const job = { id: ++last, request, resolve, reject };
      job.aborted = () => {
        if (open.has(job.id)) native.abandon(job.id);
        settle(job, "reject", signal.reason);
      };
      signal?.addEventListener("abort", job.aborted, { once: true });
      waiting.add(job);
      send();
    });

  /** A request has ended: why it failed, or its answer. */
  const fetched = (id, wrong, answer) => {
    const job = open.get(id);
    if (!job) return;
    if (answer) settle(job, "resolve", answered(answer));
    else settle(job, "reject", new TypeError(`fetch failed: ${wrong}`));
  };

  return { fetch, Headers, Response, fetched };
})
