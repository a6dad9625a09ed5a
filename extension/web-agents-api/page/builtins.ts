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
export const { stringify } = JSON;
export const { apply } = Reflect;
export const CapturedPromise = Promise;
export const CapturedError = Error;
export const CapturedEvent = Event;
export const CapturedMap = Map;

export const mapGet = uncurry(Map.prototype.get);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapForEach = uncurry(Map.prototype.forEach);

export const post: (message: unknown, origin: string) => void = window.postMessage.bind(window);
export const listen: (type: string, listener: (event: Event) => void) => void = window.addEventListener.bind(window);
export const dispatch: (event: Event) => boolean = window.dispatchEvent.bind(window);

export const dataOf = uncurry(getter<MessageEvent, unknown>(MessageEvent.prototype, "data"));
export const sourceOf = uncurry(getter<MessageEvent, unknown>(MessageEvent.prototype, "source"));

export const isAborted = uncurry(getter<AbortSignal, boolean>(AbortSignal.prototype, "aborted"));
export const reasonOf = uncurry(getter<AbortSignal, unknown>(AbortSignal.prototype, "reason"));
export const listenTo = uncurry(EventTarget.prototype.addEventListener);
export const stopListeningTo = uncurry(EventTarget.prototype.removeEventListener);

export const self_ = window;
export const pageOrigin = window.origin;
export const isSecure = window.isSecureContext;
