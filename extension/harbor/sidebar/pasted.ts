// What a server's README says to type or to write into a settings file, read as the fields of a server.
//
// Pure. Must never take a secret's value along: of what looks like one only the name is kept, and the person types the value where secrets
// are typed.

import { isFields } from "../../shared/ports/wire.ts";

export interface PastedCommand {
  is: "command";
  name: string;
  command: string;
  args: string[];
  env: { [name: string]: string };
  secrets: string[];
}

export type Pasted =
  | PastedCommand
  /** A container image: it is looked up and installed like a package. */
  | { is: "image"; name: string; source: string; secrets: string[] }
  | { is: "remote"; name: string; url: string };

/** All servers that a text names; a text says why there is none. */
export function parsePasted(text: string): Pasted[] | string {
  const trimmed = unfenced(text.trim());
  if (trimmed === "") return "Paste something first.";
  if (/^[{"]/.test(trimmed)) return ofJson(trimmed);
  if (/^https?:\/\/\S+$/.test(trimmed)) return [{ is: "remote", name: nameOf(hostOf(trimmed)), url: trimmed }];
  // A place to fill in is no redirection.
  const words = wordsOf(trimmed.replace(/\\\r?\n/g, " ").replace(/=<[^<>|;&]*>/g, "=your-value"));
  if (typeof words === "string") return words;
  return ofWords(words);
}

/** Without the fence that Markdown has around code, and without a prompt. */
function unfenced(text: string): string {
  const [, inside = text] = /^```\w*\n([\s\S]*?)\n?```$/.exec(text) ?? [];
  return inside.trim().replace(/^\$ /, "");
}

function ofJson(text: string): Pasted[] | string {
  const value = jsonOf(text) ?? jsonOf(`{${text.replace(/,\s*$/, "")}}`);
  if (!isFields(value)) return "This is not whole JSON. Paste all of it, from the first { to the last }.";
  const servers = mapOf(value);
  const found = Object.entries(servers).flatMap(([name, one]) => ofEntry(name, one) ?? []);
  return found.length === 0 ? "This JSON names no server: it has neither a command nor a URL." : found;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Claude, Cursor and others write `mcpServers`; VS Code `servers`, or `mcp` with `servers` in it; some READMEs show an entry alone. */
function mapOf(value: { [name: string]: unknown }): { [name: string]: unknown } {
  const { mcpServers, servers, mcp, context_servers: zed } = value;
  for (const map of [mcpServers, servers, zed]) if (isFields(map)) return map;
  if (isFields(mcp)) return mapOf(mcp);
  return typeof value["command"] === "string" || typeof value["url"] === "string" ? { "": value } : value;
}

function ofEntry(name: string, entry: unknown): Pasted | undefined {
  if (!isFields(entry)) return undefined;
  const { command, args, env, url, httpUrl, serverUrl } = entry;
  const address = [url, httpUrl, serverUrl].find((one) => typeof one === "string") as string | undefined;
  if (typeof command !== "string") return address === undefined ? undefined : { is: "remote", name: nameOf(name || hostOf(address)), url: address };
  const texts = Array.isArray(args) ? args.filter((one) => typeof one === "string") : [];
  const pairs = isFields(env) ? Object.entries(env).map(([key, value]) => [key, String(value)] as const) : [];
  return made([command, ...texts], pairs, name);
}

/** A line as it is typed. */
function ofWords(words: string[]): Pasted[] | string {
  const pairs: (readonly [string, string])[] = [];
  const rest = [...words];
  if (rest[0] === "env") rest.shift();
  for (let pair = pairOf(rest[0]); pair !== undefined; pair = pairOf(rest[0])) {
    pairs.push(pair);
    rest.shift();
  }
  if (rest.length === 0) return "This has no program to run.";
  // `claude mcp add NAME -- COMMAND`, and the same of other programs.
  const at = rest.indexOf("--");
  const adds = rest.slice(0, at).join(" ");
  const [, given] = (at > 0 && /\bmcp add (?:-\S+ )*([\w.-]+)/.exec(adds)) || [];
  return [given === undefined ? made(rest, pairs, "") : made(rest.slice(at + 1), pairs, given)];
}

function pairOf(word = ""): readonly [string, string] | undefined {
  const [, name, value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word) ?? [];
  return name === undefined || value === undefined ? undefined : [name, value];
}

function made([program = "", ...args]: string[], pairs: (readonly [string, string])[], name: string): Pasted {
  const isSecret = ([key, value]: readonly [string, string]) => SECRET.test(key) || /^[<{[]|^(your|xxx|\.\.\.|\$)/i.test(value);
  const secrets = pairs.filter(isSecret).map(([key]) => key);
  if (/(^|\/)(docker|podman)$/.test(program)) {
    const image = imageOf(args);
    if (image !== undefined) return { is: "image", name: nameOf(name || lastOf(image.image)), source: `oci:${image.image}`, secrets: [...new Set([...secrets, ...image.env.filter((one) => SECRET.test(one))])] };
  }
  return { is: "command", name: nameOf(name || guessed(program, args)), command: program, args, env: Object.fromEntries(pairs.filter((pair) => !isSecret(pair))), secrets };
}

const SECRET = /(key|token|secret|passw(or)?d|credential|auth|pat)$/i;

/** Options of `docker run` that have a word behind them. */
const WITH_VALUE = /^(-e|--env|-v|--volume|--mount|-p|--publish|--name|--network|--net|-u|--user|-w|--workdir|--entrypoint|--env-file|--platform|--pull|-l|--label|--add-host|-h|--hostname)$/;

function imageOf(args: string[]): { image: string; env: string[] } | undefined {
  const rest = [...args];
  if (rest[0] === "container") rest.shift();
  if (rest.shift() !== "run") return undefined;
  const env: string[] = [];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!word.startsWith("-")) return { image: word, env };
    const value = WITH_VALUE.test(word) ? rest.shift() : /^(?:-e|--env)=(.*)$/.exec(word)?.[1];
    if (/^(-e|--env)(=|$)/.test(word) && value !== undefined) env.push(value.split("=")[0] ?? "");
  }
  return undefined;
}

/** The words of a shell's line, with quotes; what a shell would compute is none of it. */
function wordsOf(line: string): string[] | string {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const letter = line[at] ?? "";
    if (quote !== "") {
      if (letter === quote) quote = "";
      else word = (word ?? "") + (letter === "\\" && quote === '"' ? (line[++at] ?? "") : letter);
    } else if (letter === "'" || letter === '"') [quote, word] = [letter, word ?? ""];
    else if (/[|&;<>`\n]/.test(letter)) return "This is more than one command. Paste only the one that starts the server.";
    else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? "") + (letter === "\\" ? (line[++at] ?? "") : letter);
  }
  if (quote !== "") return "A quote is not closed.";
  if (word !== undefined) words.push(word);
  return words;
}

/** Of `npx -y @a/server-x` that is `x`. */
function guessed(program: string, args: string[]): string {
  const runs = /(^|\/)(npx|uvx|bunx|pipx|uv|pnpm|node|python3?|deno|bun)$/.test(program);
  const word = runs ? args.find((one) => !one.startsWith("-") && !["run", "dlx", "tool"].includes(one)) : undefined;
  return lastOf(word ?? program);
}

function lastOf(word: string): string {
  const last = word.split("/").findLast((part) => part !== "") ?? word;
  return last.replace(/[@:](latest|[\d.]+)$/, "").replace(/\.(js|mjs|cjs|ts|py)$/, "").replace(/^(mcp-)?server-|-mcp-server$|^mcp-|-mcp$/g, "");
}

function hostOf(url: string): string {
  return URL.canParse(url) ? (new URL(url).hostname.replace(/^(www|mcp|api)\./, "").split(".")[0] ?? "") : url;
}

/** What Harbor takes as a name. */
function nameOf(text: string): string {
  return text.replace(/[^\w.-]+/g, "-").replace(/^[^A-Za-z0-9]+|-+$/g, "").slice(0, 64);
}
