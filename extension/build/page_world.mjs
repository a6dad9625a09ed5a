// As much of a browser as the script in the page's world looks at: what node has, and stand-ins for the rest.
//
// Owns these stand-ins. Must never do what a browser does with pixels, clicks or other windows: who needs that needs a browser.

/** The name of the event that hands the port over (shared/protocol/page.ts). */
const CHANNEL = "harbor_web_agent";

/** A message with ports: node has those of its own channels only. */
class FakeMessageEvent extends Event {
  #data;
  #ports;

  /**
   * @param {string} type
   * @param {{ data?: unknown, ports?: unknown[] }} given
   */
  constructor(type, { data, ports = [] }) {
    super(type);
    this.#data = data;
    this.#ports = ports;
  }

  /** @returns {any} */
  get data() {
    return this.#data;
  }

  get ports() {
    return this.#ports;
  }
}

class FakePort extends EventTarget {
  /** @type {FakePort | undefined} */
  other;

  /** @param {unknown} message */
  postMessage(message) {
    const data = structuredClone(message);
    setImmediate(() => this.other?.dispatchEvent(new FakeMessageEvent("message", { data })));
  }

  start() {}

  close() {}

  /** @param {(event: FakeMessageEvent) => void} listener */
  set onmessage(listener) {
    this.addEventListener("message", (event) => listener(/** @type {FakeMessageEvent} */ (event)));
  }
}

/** Two ports that are each other's end. Unlike node's own, they keep no program running. */
export class FakeChannel {
  port1 = new FakePort();
  port2 = new FakePort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}

/**
 * The globals of a page that nobody has clicked in.
 * @returns {{ window: any, document: EventTarget, [name: string]: any }}
 */
export function pageGlobals() {
  const { AbortController, AbortSignal, Blob, DOMException, EventTarget, Event, CustomEvent, ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader, TextEncoder, URL } = globalThis;
  const page = { location: { host: "localhost", origin: "http://localhost", href: "http://localhost/" }, document: new EventTarget(), navigator: {}, console, performance, crypto };
  const stand = {
    ProgressEvent: class extends Event {},
    Element: class {
      getAttribute() {}
    },
    HTMLFormElement: class {},
    OffscreenCanvas: class {
      getContext() {}
      convertToBlob() {}
    },
    OffscreenCanvasRenderingContext2D: class {
      drawImage() {}
    },
    createImageBitmap: () => undefined,
  };
  const ports = { MessagePort: FakePort, MessageChannel: FakeChannel, MessageEvent: FakeMessageEvent };
  const times = { setTimeout, clearTimeout, setInterval: () => 0, clearInterval: () => undefined, btoa, structuredClone };
  const window = new EventTarget();
  return { window, ...page, ...{ AbortController, AbortSignal, Blob, DOMException, EventTarget, Event, CustomEvent, ReadableStream, ReadableStreamDefaultController, ReadableStreamDefaultReader, TextEncoder, URL }, ...stand, ...ports, ...times };
}

/**
 * Hands a port over, and answers on the other end as far as a text session needs it.
 * @param {{ document: EventTarget }} world
 * @param {FakeChannel} channel
 */
export function handOver({ document }, { port1, port2 }) {
  port1.onmessage = ({ data: { id, type } }) => port1.postMessage(type === "model_state" ? { id, result: { state: "available" } } : { id, error: { code: "ERR_HARBOR_NOT_FOUND", message: "nobody is here" } });
  document.dispatchEvent(new FakeMessageEvent(CHANNEL, { data: "1", ports: [port2] }));
}
