// Why something could not be done in a page.
//
// Owns the kinds. A failure is an answer: it is said to whoever asked, with what to do.

/** `stale`: the element is gone; `covered`: something is in front of it; `denied`: it may not be. */
export type Kind = "stale" | "not_found" | "covered" | "disabled" | "hidden" | "invalid" | "denied" | "timeout" | "unsupported";

export class Failure extends Error {
  readonly kind: Kind;

  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}
