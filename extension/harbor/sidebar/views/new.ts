// Adding what is in no list: a remote server, or a command of the person's own.
//
// Owns both forms. Must never replace a server that is there.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Requests } from "../../../shared/protocol/generated/messages.ts";
import { type Child, type Props, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, command as commandLine, failure, field, foreign } from "../parts.ts";
import { shellWord } from "../plan.ts";
import type { Route } from "../route.ts";
import { back, serverOf } from "./head.ts";
import { pasteBox, pastedAddress } from "./paste.ts";

/** Which of the forms was entered last. */
let entered: "command" | "remote" | undefined;

type Here = Extract<Route, { at: "new" }>;
const ADD = "add";

export const added: View<Here> = {
  title: (_, { kind }) => (kind === "remote" ? "A remote server" : "Your own server"),
  enter(hands, { kind }) {
    // It is entered again with each new connection, the first one among them: what is said of the pasted text stays.
    const stays = entered === undefined || (kind === entered && document.getElementById("paste") !== null);
    entered = kind;
    if (!stays) hands.change({ pasting: undefined });
  },
  show: (hands, { kind }) => [
    back({ at: "add" }, "Catalog"),
    h("h2", { tabindex: "-1", id: "title" }, kind === "remote" ? "A remote server" : "Your own server"),
    h("div", { key: kind }, ...(kind === "remote" ? remote(hands) : command(hands))),
    hands.isBusy(ADD) ? progressOf(hands) : undefined,
    failure(hands, ADD),
    typedCommand(hands),
  ],
};

const NAME = "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}";

function text(id: string, label: string, about: Child, more: Props = {}): VNode {
  const needed = more["required"] === true;
  return field({ id, label, about, needed }, (props) => h("input", { type: "text", name: id, autocomplete: "off", spellcheck: "false", ...more, ...props }));
}

function form(hands: Hands, fields: Child[], add: (of: (name: string) => string, signal: AbortSignal) => Promise<string | undefined>): VNode {
  const submit = (event: Event) => {
    event.preventDefault();
    const { elements } = event.currentTarget as HTMLFormElement;
    const input = (name: string) => elements.namedItem(name) as HTMLInputElement;
    const of = (name: string) => input(name).value;
    hands.act(ADD, async (signal) => {
      const id = await add((name) => {
        const value = of(name);
        if (input(name).type === "password") input(name).value = "";
        return value;
      }, signal);
      if (id !== undefined) hands.go({ at: "server", id, part: "overview" });
    });
  };
  const submits = h("button.primary", { type: "submit", id: "add-server", "aria-disabled": hands.isBusy(ADD) ? "true" : undefined }, "Add and start");
  return h("form", { on: { submit } }, ...fields, h("p.buttons", {}, submits));
}

function remote(hands: Hands): Child[] {
  const pasted = pastedAddress();
  const fields = [
    text("url", "Address", "https://…, or http://… for localhost.", { required: true, inputmode: "url", placeholder: "https://example.com/mcp", value: pasted?.url }),
    text("name", "Name", "Letters, digits, '.', '_' and '-'.", { required: true, pattern: NAME, value: pasted?.name }),
    field({ id: "key", label: "Authorization", about: "The whole header value, such as “Bearer KEY”. Leave it empty if none is required or you sign in." }, (props) =>
      h("input", { type: "password", name: "key", autocomplete: "off", ...props }),
    ),
  ];
  return [
    form(hands, fields, async (of, signal) => {
      const [id, url] = [of("name").trim(), of("url").trim()];
      isFree(hands, id);
      await hands.ask("add_remote_server", { server_id: id, url }).catch((error: unknown) => {
        throw withoutSwitches(error, id, url);
      });
      // Until here its field keeps it: whoever has to change the address types it once.
      const key = of("key");
      if (key !== "") await hands.ask("set_credential", { server_id: id, key: "Authorization", value: key, credential_type: "header" });
      return start(hands, id, signal);
    }),
  ];
}

function command(hands: Hands): Child[] {
  const area = (id: string, label: string, about: string) =>
    field({ id, label, about }, (props) => h("textarea.code", { name: id, rows: 2, spellcheck: "false", ...props }));
  const fields = [
    text("name", "Name", "Letters, digits, '.', '_' and '-'.", { required: true, pattern: NAME }),
    text("command", "Program", "A full path, or a name such as npx, uvx or node.", { required: true }),
    area("args", "Arguments", "One per line."),
    area("env", "Variables", "NAME=VALUE, one per line. Put secrets below."),
    area("secrets", "Required secrets", "Names, one per line. You set their values next."),
  ];
  return [
    h("p.soft", {}, "It runs on this machine, in a sandbox with access to its own files only."),
    pasteBox(hands),
    h("h3", {}, "Or fill it in yourself"),
    form(hands, fields, async (of, signal) => {
      const asked = commandOf(of);
      isFree(hands, asked.server_id);
      await hands.ask("add_server", asked);
      return asked.secrets === undefined ? start(hands, asked.server_id, signal) : asked.server_id;
    }),
  ];
}

/** The request that a filled form makes. */
export function commandOf(of: (name: string) => string): Requests["add_server"] {
  const rows = (name: string) => of(name).split("\n").map((row) => row.trim()).filter((row) => row !== "");
  const asked: Requests["add_server"] = { server_id: of("name").trim(), command: of("command").trim() };
  const [args, env, secrets] = [rows("args"), rows("env"), rows("secrets")];
  if (args.length > 0) asked.args = args;
  if (secrets.length > 0) asked.secrets = secrets;
  if (env.length > 0) {
    asked.env = Object.fromEntries(
      env.map((row) => {
        const at = row.indexOf("=");
        if (at < 1) throw new CodedError("ERR_INVALID_REQUEST", `a variable is written as NAME=VALUE, but this line is not: ${row}`);
        return [row.slice(0, at), row.slice(at + 1)];
      }),
    );
  }
  return asked;
}

/** Fails where another server has the name. */
export function isFree(hands: Hands, id: string): void {
  if (serverOf(hands, id) !== undefined) throw new CodedError("ERR_INVALID_REQUEST", `a server named ${id} exists already: choose another name, or remove it first`);
}

/** Where it does not come up, the server's own page says why. Cancelled, it is as if it had never been added. */
async function start(hands: Hands, id: string, signal: AbortSignal): Promise<string | undefined> {
  const onProgress = (progress: unknown) => {
    const { message } = Object(progress) as { message?: unknown };
    if (typeof message === "string" && !signal.aborted) hands.change({ adding: message });
  };
  await hands.ask("connect_server", { server_id: id, progress: true }, { signal, onProgress }).catch(() => undefined);
  hands.change({ adding: undefined });
  if (!signal.aborted) return id;
  await hands.ask("remove_server", { server_id: id });
  hands.say(`${id} was not added`);
  return undefined;
}

function progressOf(hands: Hands): VNode {
  const { adding } = hands.state;
  return h(
    "div.progress",
    { role: "status", id: "progress", key: "progress" },
    h("progress", { "aria-label": "Progress" }),
    h("p.soft", {}, adding === undefined ? "Adding it…" : foreign(adding)),
    button("Cancel", () => hands.cancel(ADD), { id: "cancel" }),
  );
}

/** An address that is only taken with a switch: the sidebar has none, so its failure says what to type instead. */
export function withoutSwitches(error: unknown, id: string, url: string): unknown {
  if (!(error instanceof CodedError)) return error;
  const options = [...error.message.matchAll(/\((--allow-[a-z]+)\)/g)].map(([, option = ""]) => option);
  if (options.length === 0) return error;
  const what = error.message.slice(0, error.message.lastIndexOf("; "));
  const typed = ["harbor", "add", id, "--url", url, ...options].map(shellWord).join(" ");
  return new CodedError(error.code, `nothing was added: ${what}`, { typed });
}

function typedCommand(hands: Hands): Child {
  const { details } = Object(hands.state.acts[ADD]) as { details?: unknown };
  const { typed } = Object(details) as { typed?: unknown };
  if (typeof typed !== "string") return undefined;
  return h("div", { key: "typed" }, h("p.soft", {}, "To add it anyway, run this in a terminal:"), commandLine(typed, hands));
}
