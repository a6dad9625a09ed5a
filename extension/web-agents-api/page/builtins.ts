// Own copies of the built-ins that the page's API needs, taken before any script of the page runs.
//
// Must be the first import of the injected script. What is not taken here must not be used there: the page can replace it.

const { bind, call } = Function.prototype;

/** `method` as a function of what it is called on. */
const uncurry = bind.bind(call) as <T, A extends unknown[], R>(
  method: (this: T, ...args: A) => R,
) => (self: T, ...args: A) => R;

type Class<T> = { prototype: T };

/** The getter of instances of `Class`. */
const getter = <T, R>({ prototype }: Class<T>, name: keyof T): ((self: T) => R) => uncurry(Object.getOwnPropertyDescriptor(prototype, name)?.get as (this: T) => R);

/** The same of a method. */
const method = <T, N extends keyof T>({ prototype }: Class<T>, name: N) => uncurry(prototype[name] as never) as unknown as T[N] extends (...args: infer A) => infer R ? (self: T, ...args: A) => R : never;

export const { freeze, defineProperty, hasOwn } = Object;
export const { parse, stringify } = JSON;
export const { apply } = Reflect;
export const { isArray } = Array;
export const { isView } = ArrayBuffer;
export const { asyncIterator, iterator, toStringTag } = Symbol;
export const { ceil, min } = Math;
export const fromCharCode = String.fromCharCode;
export const canonicalLocales = Intl.getCanonicalLocales;
export const CapturedPromise = Promise;
export const CapturedError = Error;
export const CapturedTypeError = TypeError;
export const CapturedDOMException = DOMException;
export const CapturedEvent = Event;
export const CapturedProgressEvent = ProgressEvent;
export const CapturedEventTarget = EventTarget;
export const CapturedAbortController = AbortController;
export const CapturedMap = Map;
export const CapturedReadableStream = ReadableStream;
export const CapturedBlob = Blob;
export const CapturedArrayBuffer = ArrayBuffer;
export const CapturedBytes = Uint8Array;
export const CapturedCanvas = OffscreenCanvas;
export const bitmapOf = createImageBitmap as (source: ImageBitmapSource) => Promise<ImageBitmap>;
export const toBase64 = btoa;
export const trim = method(String, "trim");
export const startsWith = uncurry(String.prototype.startsWith as (this: string, start: string) => boolean);
export const after = uncurry(String.prototype.slice as (this: string, start: number) => string);
export const newId = crypto.randomUUID.bind(crypto);
export const later = setTimeout as (call: () => void, ms: number) => unknown;

export const mapGet = method(Map, "get");
export const mapSet = method(Map, "set");
export const mapDelete = method(Map, "delete");
export const mapForEach = method(Map, "forEach");

/** Where a page has given promises another `constructor`, the result may be none of ours: it is not looked at. */
export const then = uncurry(
  Promise.prototype.then as (this: Promise<unknown>, done: (value: unknown) => void, failed: (error: unknown) => void) => unknown,
);

export const dispatchTo = method(EventTarget, "dispatchEvent");
export const listenTo = method(EventTarget, "addEventListener");
export const stopListeningTo = method(EventTarget, "removeEventListener");
export const stopEvent = method(Event, "stopImmediatePropagation");

/** A form's own inputs may have the names of its properties. */
export const targetOf = getter<Event, Element>(Event, "target");
export const attributeOf = method(Element, "getAttribute");

export const postTo = uncurry(MessagePort.prototype.postMessage as (this: MessagePort, message: unknown) => void);
export const startPort = method(MessagePort, "start");
export const dataOf = getter<MessageEvent, unknown>(MessageEvent, "data");
export const portsOf = getter<MessageEvent, readonly MessagePort[]>(MessageEvent, "ports");

export const isAborted = getter<AbortSignal, boolean>(AbortSignal, "aborted");
export const reasonOf = getter<AbortSignal, unknown>(AbortSignal, "reason");
export const abort = method(AbortController, "abort");
export const signalOf = getter<AbortController, AbortSignal>(AbortController, "signal");

const Controller = ReadableStreamDefaultController;
export const enqueue = method(Controller, "enqueue");
export const closeStream = method(Controller, "close");
export const failStream = method(Controller, "error");

export const readerOf = uncurry(ReadableStream.prototype.getReader as (this: ReadableStream<unknown>) => ReadableStreamDefaultReader<unknown>);
export const readFrom = uncurry(ReadableStreamDefaultReader.prototype.read as (this: ReadableStreamDefaultReader<unknown>) => Promise<ReadableStreamReadResult<unknown>>);

export const bytesOf = method(Blob, "arrayBuffer");
export const sizeOf = getter<Blob, number>(Blob, "size");
export const mediaTypeOf = getter<Blob, string>(Blob, "type");
export const contextOf = uncurry(OffscreenCanvas.prototype.getContext as (this: OffscreenCanvas, kind: "2d") => OffscreenCanvasRenderingContext2D | null);
type Draw = (this: OffscreenCanvasRenderingContext2D, image: CanvasImageSource, x: number, y: number, width: number, height: number) => void;
export const draw = uncurry(OffscreenCanvasRenderingContext2D.prototype.drawImage as Draw);
export const blobOf = method(OffscreenCanvas, "convertToBlob");

/** Throws where it is no regular expression. */
export const sourceOf = getter<RegExp, string>(RegExp, "source");

export const isObject = (value: unknown): value is { [name: string]: unknown } => typeof value === "object" && value !== null;

export const self_ = window;
export const document_ = document;
export const { host, origin } = location;

/** What the browser has itself, if anything. */
export const native = {
  LanguageModel: (window as { LanguageModel?: unknown }).LanguageModel,
  QuotaExceededError: (window as { QuotaExceededError?: unknown }).QuotaExceededError,
  modelContext: "modelContext" in document ? ("document" as const) : "modelContext" in navigator ? ("navigator" as const) : null,
};
