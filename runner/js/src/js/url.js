// URL and URLSearchParams over the URL Standard's parser, which is native's.
(function (native) {
  "use strict";
  const SET = Symbol("tells a URL of its parameters");
  const PARTS = ["protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"];

  class URLSearchParams {
    #pairs = [];
    #changed = null;
    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        const pairs = typeof init[Symbol.iterator] === "function" ? [...init] : Object.entries(init);
        for (const pair of pairs) {
          const [name, value, ...more] = [...pair];
          if (pair.length !== undefined && (pair.length !== 2 || more.length)) {
            throw new TypeError("URLSearchParams takes pairs of a name and a value");
          }
          this.#pairs.push([`${name}`, `${value}`]);
        }
      } else {
        this.#pairs = native.form_read(`${init}`.toWellFormed().replace(/^\?/, ""));
      }
    }
    [SET](text, changed) {
      this.#pairs = native.form_read(text.replace(/^\?/, ""));
      this.#changed = changed;
    }
    #tell() {
      if (this.#changed) this.#changed(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([`${name}`, `${value}`]);
      this.#tell();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([key, had]) => key !== `${name}` || (value !== undefined && had !== `${value}`));
      this.#tell();
    }
    get(name) {
      return this.#pairs.find(([key]) => key === `${name}`)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([key]) => key === `${name}`).map(([, value]) => value);
    }
    has(name, value) {
      return this.#pairs.some(([key, had]) => key === `${name}` && (value === undefined || had === `${value}`));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([key]) => key === `${name}`);
      if (at < 0) return this.append(name, value);
      this.#pairs[at][1] = `${value}`;
      this.#pairs = this.#pairs.filter(([key], other) => other <= at || key !== `${name}`);
      this.#tell();
    }
    sort() {
      this.#pairs.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
      this.#tell();
    }
    forEach(callback, self) {
      for (const [name, value] of this) callback.call(self, value, name, this);
    }
    *entries() {
      for (let at = 0; at < this.#pairs.length; at++) yield [...this.#pairs[at]];
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
    toString() {
      return native.form_write(this.#pairs.map((pair) => pair.map((text) => text.toWellFormed())));
    }
  }

  class URL {
    #parts;
    #params = new URLSearchParams();
    constructor(url, base) {
      const parts = native.url(`${url}`.toWellFormed(), base === undefined ? undefined : `${base}`.toWellFormed());
      if (!parts) throw new TypeError("Invalid URL");
      this.#take(parts);
    }
    static canParse(url, base) {
      return URL.parse(url, base) !== null;
    }
    static parse(url, base) {
      try {
        return new URL(url, base);
      } catch {
        return null;
      }
    }
    #take(parts) {
      this.#parts = parts;
      this.#params[SET](parts.search, (search) => { this.#parts = native.url_set(this.#parts.href, "search", search); });
    }
    get href() {
      return this.#parts.href;
    }
    set href(url) {
      const parts = native.url(`${url}`.toWellFormed());
      if (!parts) throw new TypeError("Invalid URL");
      this.#take(parts);
    }
    get origin() {
      return this.#parts.origin;
    }
    get searchParams() {
      return this.#params;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    static {
      for (const part of PARTS) {
        Object.defineProperty(URL.prototype, part, {
          get() {
            return this.#parts[part];
          },
          set(value) {
            this.#take(native.url_set(this.#parts.href, part, `${value}`.toWellFormed()));
          },
          configurable: true,
          enumerable: true,
        });
      }
    }
  }

  return { URL, URLSearchParams };
})
