// The tools that a page offers, as its own world has them.
//
// Owns how they are read: each attribute once, by its name, since what a browser gives has nothing of its own that could be copied. Must
// never use what the page has not been asked for.

import { MOST, MOST_TOOLS, type Offer } from "./forms.ts";

type Fields = { [name: string]: unknown };

/** As much of a `modelContext` as is used here. */
export interface Context {
  getTools(): unknown;
  executeTool(tool: unknown, input: unknown, options: { signal: AbortSignal }): unknown;
  addEventListener?: unknown;
}

/** A tool as the page has it, and as it is offered. */
export interface Found {
  tool: unknown;
  offer: Offer;
}

/** Where the page's tools are: the browser's place or Harbor's, else the one that Harbor always has. */
export function contextIn(world: object): Context | undefined {
  const { document, harbor } = world as { document?: Fields; harbor?: Fields };
  for (const place of [document, harbor]) {
    try {
      const context = place?.["modelContext"] as Context | null | undefined;
      if (typeof context?.getTools === "function" && typeof context.executeTool === "function") return context;
    } catch {
      // Whoever has put it there wants nothing to be found.
    }
  }
  return undefined;
}

/** The first of the document's own tools. Frames have theirs, under the same names. */
export async function toolsIn(world: object): Promise<Found[]> {
  const all: unknown = await contextIn(world)?.getTools();
  const found: Found[] = [];
  for (const tool of Array.isArray(all) ? all : []) {
    if (found.length === MOST_TOOLS) break;
    const offer = offerOf(tool, world);
    if (offer !== undefined && !found.some((one) => one.offer.name === offer.name)) found.push({ tool, offer });
  }
  return found;
}

/** Reads one; nothing where it cannot be offered. */
export function offerOf(tool: unknown, world: object): Offer | undefined {
  try {
    const { name, title, description, inputSchema, annotations, window = world } = Object(tool) as Fields;
    const [schema, claims] = [plain(inputSchema, MOST.inputSchema), plain(annotations, MOST.annotations)];
    if (window !== world || typeof name !== "string" || !/^[\w.-]{1,128}$/.test(name)) return undefined;
    if (typeof description !== "string" || description === "" || description.length > MOST.description) return undefined;
    return {
      name,
      ...(typeof title === "string" && title !== "" && title.length <= MOST.title ? { title } : {}),
      description,
      ...(schema === undefined ? {} : { inputSchema: schema }),
      ...(claims === undefined ? {} : { annotations: claims }),
    };
  } catch {
    return undefined;
  }
}

/** An object of JSON, also where it is given as a text. Fails where it is something else, or too long. */
function plain(value: unknown, most: number): object | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const read: unknown = text.length <= most ? JSON.parse(text) : undefined;
  if (typeof read !== "object" || read === null || Array.isArray(read)) throw new TypeError("not an object of JSON");
  return read;
}
