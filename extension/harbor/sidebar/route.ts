// Where in the sidebar the person is, and how the page's address says so.
//
// Pure. An address chooses what is shown and looked up. Must never have one that starts, changes or installs anything.

/** The parts of what is shown of a server. */
export const PARTS = ["overview", "tools", "logs", "secrets"] as const;
export type Part = (typeof PARTS)[number];

export type Route =
  /** A chat; without an id a new one. */
  | { at: "chat"; id?: string }
  | { at: "chats" }
  | { at: "models" }
  | { at: "more" }
  | { at: "servers" }
  | { at: "server"; id: string; part: Part }
  | { at: "tool"; id: string; tool: string }
  | { at: "sites" }
  | { at: "site"; origin: string }
  | { at: "activity" }
  | { at: "questions" }
  | { at: "browser" }
  | { at: "add" }
  /** `source` as `install_server` takes it. */
  | { at: "install"; source: string }
  | { at: "new"; kind: "remote" | "command" };

const SERVER = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Reads an address' part behind `#`; what is none is a new chat. */
export function parseRoute(hash: string): Route {
  const [at = "", first = "", second = ""] = hash.replace(/^#/, "").split("/").map(decoded);
  if (at === "chat" && SERVER.test(first)) return { at, id: first };
  if (at === "servers" || at === "chats" || at === "models" || at === "more") return { at };
  if (at === "sites" || at === "questions" || at === "activity" || at === "browser" || at === "add") return { at };
  if (at === "site" && /^[a-z]+:\/\/./.test(first)) return { at, origin: first };
  if (at === "install" && first !== "") return { at, source: first };
  if (at === "new" && (first === "remote" || first === "command")) return { at, kind: first };
  if (SERVER.test(first)) {
    if (at === "tool" && second !== "") return { at, id: first, tool: second };
    if (at === "server") return { at, id: first, part: PARTS.find((part) => part === second) ?? "overview" };
  }
  return { at: "chat" };
}

/** The address of a place. No element may have it as its id: the browser would scroll there. */
export function hrefOf(route: Route): string {
  const parts = (() => {
    switch (route.at) {
      case "chat":
        return route.id === undefined ? [route.at] : [route.at, route.id];
      case "server":
        return [route.at, route.id, route.part];
      case "tool":
        return [route.at, route.id, route.tool];
      case "site":
        return [route.at, route.origin];
      case "install":
        return [route.at, route.source];
      case "new":
        return [route.at, route.kind];
      default:
        return [route.at];
    }
  })();
  return `#${parts.map(encodeURIComponent).join("/")}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
