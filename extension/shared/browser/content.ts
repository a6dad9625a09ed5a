// The little of the extension API that content scripts have: the third file that touches the browser's API.
//
// Owns what differs between browsers there. Must never be called with what is not an element of the page.

/** The shadow root of an element, also a closed one. */
export function closedShadowRoot(element: HTMLElement): ShadowRoot | null {
  if (__BROWSER__ === "chrome") return chrome.dom.openOrClosedShadowRoot(element);
  return (element as unknown as { openOrClosedShadowRoot: ShadowRoot | null }).openOrClosedShadowRoot;
}

/** What a document sends its background to have the time told. */
export const PAUSE = "pause";

/**
 * Waits. Timers of a tab that is not shown run once a second, those of the background do not; where it does not answer, the
 * document waits by itself.
 */
export async function pause(ms: number): Promise<void> {
  if (document.visibilityState === "visible") return new Promise((done) => setTimeout(done, ms));
  await chrome.runtime.sendMessage({ ask: PAUSE, ms }).catch(() => new Promise((done) => setTimeout(done, ms)));
}

/** What a drop carries, made in the page's own world: Firefox gives a page nothing of what another one has put there. */
export function carriedByPage(): DataTransfer {
  const world = (window as unknown as { wrappedJSObject?: typeof globalThis }).wrappedJSObject ?? globalThis;
  return new world.DataTransfer();
}
