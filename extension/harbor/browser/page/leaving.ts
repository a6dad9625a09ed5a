// Whether an action makes this document go elsewhere: the document knows before the browser tells.
//
// Owns that question alone. Must never stop a navigation, or keep a page out of the browser's memory longer than an action takes.

interface Navigated extends Event {
  destination?: { sameDocument: boolean };
}

const navigation = (globalThis as unknown as { navigation?: EventTarget }).navigation;

export class Leaving {
  #is = false;
  readonly #note = (event: Navigated): void => {
    if (event.destination?.sameDocument !== true) this.#is = true;
  };

  constructor() {
    if (navigation === undefined) window.addEventListener("beforeunload", this.#note);
    else navigation.addEventListener("navigate", this.#note);
  }

  /** True if it set out for another document of this window. */
  get is(): boolean {
    return this.#is;
  }

  stop(): void {
    window.removeEventListener("beforeunload", this.#note);
    navigation?.removeEventListener("navigate", this.#note);
  }
}
