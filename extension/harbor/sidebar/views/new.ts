// Adding what is in no list: a server that runs elsewhere, or a command of the person's own.
//
// Owns both forms. Must never replace a server that is there.

import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Requests } from "../../../shared/protocol/generated/messages.ts";
import { LAZY } from "../../lazy.ts";
import { type Child, type Props, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { failure, field } from "../parts.ts";
import type { Route } from "../route.ts";
import { back, serverOf } from "./head.ts";

type Here = Extract<Route, { at: "new" }>;
const ADD = "add";

export const added: View<Here> = {
  title: (_, { kind }) => (kind === "remote" ? "A server elsewhere" : "A command"),
  show: (hands, { kind }) => [
    back({ at: "add" }, "Catalog"),
    h("h2", { tabindex: "-1", id: "title" }, kind === "remote" ? "A server that runs elsewhere" : "A command of your own"),
    h("div", { key: kind }, ...(kind === "remote" ? remote(hands) : command(hands))),
    failure(hands, ADD),
  ],
};

const NAME = "[A-Za-z0-9][A-Za-z0-9_.\\-]{0,63}";

function text(id: string, label: string, about: Child, more: Props = {}): VNode {
  const needed = more["required"] === true;
  return field({ id, label, about, needed }, (props) => h("input", { type: "text", name: id, autocomplete: "off", spellcheck: "false", ...more, ...props }));
}

function form(hands: Hands, fields: Child[], add: (of: (name: string) => string) => Promise<string>): VNode {
  const submit = (event: Event) => {
    event.preventDefault();
    const { elements } = event.currentTarget as HTMLFormElement;
    const input = (name: string) => elements.namedItem(name) as HTMLInputElement;
    const of = (name: string) => input(name).value;
    hands.act(ADD, async () => {
      const id = await add((name) => {
        const value = of(name);
        if (input(name).type === "password") input(name).value = "";
        return value;
      });
      hands.go({ at: "server", id, part: "overview" });
    });
  };
  const button = h("button.primary", { type: "submit", id: "add", "aria-disabled": hands.isBusy(ADD) ? "true" : undefined }, "Add and start");
  return h("form", { on: { submit } }, ...fields, h("p.buttons", {}, button));
}

function remote(hands: Hands): Child[] {
  const fields = [
    text("url", "Address", "https://…, or http://… on this machine.", { required: true, inputmode: "url", placeholder: "https://example.com/mcp" }),
    text("name", "Name here", "Letters, digits, '.', '_' and '-'.", { required: true, pattern: NAME }),
    field({ id: "key", label: "Authorization", about: "All that stands in this header, such as Bearer and a key. Leave it empty if there is none, or if you sign in there." }, (props) =>
      h("input", { type: "password", name: "key", autocomplete: "off", ...props }),
    ),
  ];
  return [
    form(hands, fields, async (of) => {
      const [id, url, key] = [of("name").trim(), of("url").trim(), of("key")];
      isFree(hands, id);
      await hands.ask("add_remote_server", { server_id: id, url, supervision: LAZY });
      if (key !== "") await hands.ask("set_credential", { server_id: id, key: "Authorization", value: key, credential_type: "header" });
      await start(hands, id);
      return id;
    }),
  ];
}

function command(hands: Hands): Child[] {
  const area = (id: string, label: string, about: string) =>
    field({ id, label, about }, (props) => h("textarea.code", { name: id, rows: 2, spellcheck: "false", ...props }));
  const fields = [
    h("p.soft", {}, "It runs on this machine, in a sandbox that holds it to its own files."),
    text("name", "Name here", "Letters, digits, '.', '_' and '-'.", { required: true, pattern: NAME }),
    text("command", "Program", "A whole path, or a name such as npx, uvx or node.", { required: true }),
    area("args", "Arguments", "One on each line."),
    area("env", "Variables", "NAME=VALUE, one on each line. Secrets go below."),
    area("secrets", "Secrets that it needs", "Names, one on each line; you set their values next."),
  ];
  return [
    form(hands, fields, async (of) => {
      const asked = commandOf(of);
      isFree(hands, asked.server_id);
      await hands.ask("add_server", asked);
      if (asked.secrets === undefined) await start(hands, asked.server_id);
      return asked.server_id;
    }),
  ];
}

/** The request that a filled form makes. */
export function commandOf(of: (name: string) => string): Requests["add_server"] {
  const rows = (name: string) => of(name).split("\n").map((row) => row.trim()).filter((row) => row !== "");
  const asked: Requests["add_server"] = { server_id: of("name").trim(), command: of("command").trim(), supervision: LAZY };
  const [args, env, secrets] = [rows("args"), rows("env"), rows("secrets")];
  if (args.length > 0) asked.args = args;
  if (secrets.length > 0) asked.secrets = secrets;
  if (env.length > 0) {
    asked.env = Object.fromEntries(
      env.map((row) => {
        const at = row.indexOf("=");
        if (at < 1) throw new CodedError("ERR_INVALID_REQUEST", `a variable is NAME=VALUE, and this is not: ${row}`);
        return [row.slice(0, at), row.slice(at + 1)];
      }),
    );
  }
  return asked;
}

function isFree(hands: Hands, id: string): void {
  if (serverOf(hands, id) !== undefined) throw new CodedError("ERR_INVALID_REQUEST", `there is a server ${id} already: choose another name, or remove it first`);
}

/** Where it does not come up, the server's own page says why. */
async function start(hands: Hands, id: string): Promise<void> {
  await hands.ask("connect_server", { server_id: id }).catch(() => undefined);
}
