// TextEncoder and TextDecoder, for UTF-8 only.
//
// Owns the conversion of bytes to text as the Encoding Standard says it: each wrong sequence becomes one U+FFFD.
(function (native) {
  "use strict";

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return native.encode(`${text}`.toWellFormed());
    }
    encodeInto(text, target) {
      let [read, written] = [0, 0];
      for (const character of `${text}`.toWellFormed()) {
        const bytes = native.encode(character);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  const bytes_of = (input) => {
    if (input === undefined) return new Uint8Array(0);
    if (input instanceof ArrayBuffer) return new Uint8Array(input);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    throw new TypeError("TextDecoder.decode takes an ArrayBuffer or a view of one");
  };

  // The least and the greatest second byte behind a first one, and how many follow in all.
  const sequence = (lead) => {
    if (lead >= 0xc2 && lead <= 0xdf) return [1, 0x80, 0xbf];
    if (lead >= 0xe0 && lead <= 0xef) return [2, lead === 0xe0 ? 0xa0 : 0x80, lead === 0xed ? 0x9f : 0xbf];
    if (lead >= 0xf0 && lead <= 0xf4) return [3, lead === 0xf0 ? 0x90 : 0x80, lead === 0xf4 ? 0x8f : 0xbf];
    return [0, 0, 0];
  };

  class TextDecoder {
    #fatal;
    #keeps;
    #rest = new Uint8Array(0);
    #begun = false;
    constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
      if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(`${label}`.trim().toLowerCase())) {
        throw new RangeError("TextDecoder knows utf-8 only");
      }
      this.#fatal = Boolean(fatal);
      this.#keeps = Boolean(ignoreBOM);
    }
    get encoding() {
      return "utf-8";
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#keeps;
    }
    decode(input, { stream = false } = {}) {
      const given = bytes_of(input);
      const bytes = new Uint8Array(this.#rest.length + given.length);
      bytes.set(this.#rest);
      bytes.set(given, this.#rest.length);
      const { text, used } = this.#read(bytes, stream);
      this.#rest = bytes.slice(used);
      const marked = !this.#begun && !this.#keeps && text.startsWith("\ufeff");
      this.#begun = stream && (this.#begun || text !== "");
      return marked ? text.slice(1) : text;
    }
    #wrong() {
      if (this.#fatal) throw new TypeError("the bytes are not UTF-8");
      return "\ufffd";
    }
    #read(bytes, stream) {
      let [text, plain, at] = ["", 0, 0];
      const ascii = (end) => {
        for (; plain < end; plain += 4096) {
          text += String.fromCharCode.apply(null, bytes.subarray(plain, Math.min(end, plain + 4096)));
        }
        plain = end;
      };
      while (at < bytes.length) {
        const lead = bytes[at];
        if (lead < 0x80) {
          at++;
          continue;
        }
        ascii(at);
        const [count, least, most] = sequence(lead);
        let [code, seen] = [lead & (0x3f >> count), 0];
        while (seen < count && at + seen + 1 < bytes.length) {
          const byte = bytes[at + seen + 1];
          if (seen === 0 ? byte < least || byte > most : (byte & 0xc0) !== 0x80) break;
          code = (code << 6) | (byte & 0x3f);
          seen++;
        }
        const whole = count > 0 && seen === count;
        if (!whole && count > 0 && at + seen + 1 === bytes.length && stream) return { text, used: at };
        text += whole ? String.fromCodePoint(code) : this.#wrong();
        at += seen + 1;
        plain = at;
      }
      ascii(at);
      return { text, used: at };
    }
  }

  return { TextEncoder, TextDecoder };
})
