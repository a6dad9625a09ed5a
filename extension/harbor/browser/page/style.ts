// The style that an element is drawn with.
//
// Owns that what is asked for often is read once: reading a part takes a microsecond, and pages have tens of thousands of elements. Must
// not be kept: it is what it was when it was first read.

export class Style {
  /** The parts that are asked for once. */
  readonly rest: CSSStyleDeclaration;
  #display?: string;
  #visibility?: string;
  #cursor?: string;
  #position?: string;
  #transform?: string;

  constructor(element: Element) {
    this.rest = getComputedStyle(element);
  }

  get display(): string {
    return (this.#display ??= this.rest.display);
  }

  get visibility(): string {
    return (this.#visibility ??= this.rest.visibility);
  }

  get cursor(): string {
    return (this.#cursor ??= this.rest.cursor);
  }

  get position(): string {
    return (this.#position ??= this.rest.position);
  }

  get transform(): string {
    return (this.#transform ??= this.rest.transform);
  }
}
