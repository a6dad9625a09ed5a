// What is done in the page's own world: its tools are listed, called and listened to.
//
// Owns the calls under way in this document. Must never call a tool that is not the one that was offered, or in another document than was
// meant: both are looked at here, in the script that calls. It comes after the page's scripts, so what it uses may be the page's: nothing here
// keeps anything from the page, and whoever reads the answers looks at all of them.

import { type CallOrder, type Called, type Listed, MOST_MESSAGE, MOST_RESULT, type Order } from "./forms.ts";
import { type Context, contextIn, toolsIn } from "./offered.ts";

/** As much of a page's `window` as is used here. */
export interface World {
  location: { origin: string };
  performance: { timeOrigin: number };
  document: { dispatchEvent(event: Event): unknown };
}

export class InPage {
  readonly #world: World;
  readonly #calls = new Map<string, AbortController>();

  constructor(world: World) {
    this.#world = world;
  }

  async act(order: Order): Promise<Listed | Called | null> {
    if (order.do === "list") return this.#list();
    if (order.do === "call") return this.#call(order);
    if (order.do === "cancel") this.#calls.get(order.key)?.abort();
    else this.#hear(order.event);
    return null;
  }

  async #list(): Promise<Listed> {
    const tools = (await toolsIn(this.#world)).map(({ offer }) => offer);
    return { origin: this.#world.location.origin, born: this.#world.performance.timeOrigin, tools: JSON.stringify(tools) };
  }

  async #call({ key, origin, born, name, mark, input }: CallOrder): Promise<Called> {
    const { location, performance } = this.#world;
    if (location.origin !== origin || performance.timeOrigin !== born) return { is: "gone", text: "" };
    const stop = new AbortController();
    this.#calls.set(key, stop);
    try {
      const found = (await toolsIn(this.#world)).find(({ offer }) => offer.name === name);
      if (found === undefined || JSON.stringify(found.offer) !== mark) return { is: "changed", text: "" };
      const given = await (contextIn(this.#world) as Context).executeTool(found.tool, inputOf(input), { signal: stop.signal });
      const text = typeof given === "string" ? given : (JSON.stringify(given) ?? "null");
      return text.length > MOST_RESULT ? { is: "long", text: "" } : { is: "result", text };
    } catch (error) {
      return { is: "threw", text: messageOf(error) };
    } finally {
      this.#calls.delete(key);
    }
  }

  #hear(event: string): void {
    const context = contextIn(this.#world);
    if (typeof context?.addEventListener !== "function") return;
    (context as unknown as EventTarget).addEventListener("toolchange", () => void this.#world.document.dispatchEvent(new Event(event)));
  }
}

/** The arguments as an object; a browser that wants a text asks it for one. */
function inputOf(input: string): object {
  return Object.defineProperty(JSON.parse(input) as object, "toString", { value: () => input });
}

function messageOf(error: unknown): string {
  try {
    return `${(error as { message?: unknown } | null | undefined)?.message ?? error}`.slice(0, MOST_MESSAGE);
  } catch {
    return "";
  }
}
