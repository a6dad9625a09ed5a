// Own copies of the built-ins that the page's API needs, taken before any script of the page runs.
//
// Must be the first import of the injected script. What is not taken here must not be used there: the page can replace it.

const { bind, call } = Function.prototype;

/** `method` as a function of what it is called on. */
const uncurry = bind.bind(call) as <T, A extends unknown[], R>(
  method: (this: T, ...args: A) => R,
) => (self: T, ...args: A) => R;

type Getter<T, R> = (this: T) => R;
const getter = <T, R>(prototype: object, name: string): Getter<T, R> =>
  Object.getOwnPropertyDescriptor(prototype, name)?.get as Getter<T, R>;

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
export const CapturedCustomEvent = CustomEvent;
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
export const trim = uncurry(String.prototype.trim);
export const startsWith = uncurry(String.prototype.startsWith as (this: string, start: string) => boolean);
export const newId = crypto.randomUUID.bind(crypto);
export const later = setTimeout as (call: () => void, ms: number) => unknown;

export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapForEach = uncurry(Map.prototype.forEach);

/** Where a page has given promises another `constructor`, the result may be none of ours: it is not looked at. */
export const then = uncurry(
  Promise.prototype.then as (this: Promise<unknown>, done: (value: unknown) => void, failed: (error: unknown) => void) => unknown,
);

export const dispatchTo = uncurry(EventTarget.prototype.dispatchEvent);
export const listenTo = uncurry(EventTarget.prototype.addEventListener);
export const stopListeningTo = uncurry(EventTarget.prototype.removeEventListener);
export const stopEvent = uncurry(Event.prototype.stopImmediatePropagation);

export const postTo = uncurry(MessagePort.prototype.postMessage as (this: MessagePort, message: unknown) => void);
export const startPort = uncurry(MessagePort.prototype.start);
export const dataOf = uncurry(getter<MessageEvent, unknown>(MessageEvent.prototype, "data"));
export const portsOf = uncurry(getter<MessageEvent, readonly MessagePort[]>(MessageEvent.prototype, "ports"));

export const isAborted = uncurry(getter<AbortSignal, boolean>(AbortSignal.prototype, "aborted"));
export const reasonOf = uncurry(getter<AbortSignal, unknown>(AbortSignal.prototype, "reason"));
export const abort = uncurry(AbortController.prototype.abort);
export const signalOf = uncurry(getter<AbortController, AbortSignal>(AbortController.prototype, "signal"));

const Controller = ReadableStreamDefaultController;
export const enqueue = uncurry(Controller.prototype.enqueue);
export const closeStream = uncurry(Controller.prototype.close);
export const failStream = uncurry(Controller.prototype.error);

export const readerOf = uncurry(ReadableStream.prototype.getReader as (this: ReadableStream<unknown>) => ReadableStreamDefaultReader<unknown>);
export const readFrom = uncurry(ReadableStreamDefaultReader.prototype.read as (this: ReadableStreamDefaultReader<unknown>) => Promise<ReadableStreamReadResult<unknown>>);

export const bytesOf = uncurry(Blob.prototype.arrayBuffer);
export const sizeOf = uncurry(getter<Blob, number>(Blob.prototype, "size"));
export const mediaTypeOf = uncurry(getter<Blob, string>(Blob.prototype, "type"));
export const contextOf = uncurry(OffscreenCanvas.prototype.getContext as (this: OffscreenCanvas, kind: "2d") => OffscreenCanvasRenderingContext2D | null);
type Draw = (this: OffscreenCanvasRenderingContext2D, image: CanvasImageSource, x: number, y: number, width: number, height: number) => void;
export const draw = uncurry(OffscreenCanvasRenderingContext2D.prototype.drawImage as Draw);
export const blobOf = uncurry(OffscreenCanvas.prototype.convertToBlob);

/** Throws where it is no regular expression. */
export const sourceOf = uncurry(getter<RegExp, string>(RegExp.prototype, "source"));

export const self_ = window;
export const document_ = document;
export const { host } = location;

/** What the browser has itself, if anything. */
export const native = {
  LanguageModel: (window as { LanguageModel?: unknown }).LanguageModel,
  QuotaExceededError: (window as { QuotaExceededError?: unknown }).QuotaExceededError,
  /** Where the browser keeps the tools of pages, and runs them. */
  tools: (document as { modelContext?: unknown }).modelContext,
  modelContext: "modelContext" in document ? ("document" as const) : "modelContext" in navigator ? ("navigator" as const) : null,
};
