// What the background asks a document about the page's own tools, and what it gets: one name each.
//
// Owns these forms and the limits of what a page may offer. All that comes back is the page's word.

/** Under which symbol a document has the part in the page's own world. A page may put its own there: what that gives is the page's word, too. */
export const WORLD = "harbor page source";
export const WORLD_FILE = "page_source_world.js";

/** The name under which a document has its part among the extension's own, and that of the port which it opens. */
export const PART = "harborPageSource";
export const PART_FILE = "page_source_part.js";
export const HEARD_PORT = "page source";

/** So many tools of a page are offered. */
export const MOST_TOOLS = 64;
/** The longest of each, in characters; of a schema and of annotations: as JSON. A tool with more is left out. */
export const MOST = { description: 4_000, title: 300, inputSchema: 16_000, annotations: 2_000 };
/** The longest result, and the longest message of a failure, in characters. */
export const MOST_RESULT = 300_000;
export const MOST_MESSAGE = 2_000;

/** A tool as it is offered: MCP's form of it. */
export interface Offer {
  name: string;
  title?: string;
  description: string;
  inputSchema?: object;
  annotations?: object;
}

/** Which document of a tab is meant: where it is, and when it came to be. */
export interface Born {
  origin: string;
  born: number;
}

export interface CallOrder extends Born {
  /** What a cancel names. Nobody can guess it. */
  key: string;
  name: string;
  /** The tool as it was offered, as JSON. */
  mark: string;
  /** The arguments: a JSON object. */
  input: string;
}

export type Order =
  | { do: "list" }
  | ({ do: "call" } & CallOrder)
  | { do: "cancel"; key: string }
  /** Says by an event of this name that the tools are others. */
  | { do: "hear"; event: string };

/** The tools as JSON. */
export interface Listed extends Born {
  tools: string;
}

/** `gone`: it is another document. `changed`: the tool is gone, or another one. `long`: the result is. `threw`: the text is the page's message. */
export interface Called {
  is: "gone" | "changed" | "long" | "threw" | "result";
  text: string;
}
