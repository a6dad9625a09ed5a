// What a person is shown of an installation before the yes: the facts that `harbor install` shows, too.
//
// Pure. Must never leave out what a plan says: a fact that is not known here by name is shown by its own.

import { isFields } from "../../shared/ports/wire.ts";
import type { Installed, Resolved, Sandbox } from "../../shared/protocol/generated/messages.ts";
import { count } from "./words.ts";

export type Row = readonly [term: string, said: string];

/** What is said below in words, or means nothing to a person. */
const SAID = ["server_id", "kind", "name", "source", "version", "integrity", "packages", "sandbox", "settings", "file", "runs"];
const INNER = ["type", "request_id", "planned", "needs_build", "missing", "tools", "server", "installed_at", "previous"];

export function factsOfPlan(plan: Installed): Row[] {
  const { server_id, kind, name, version, integrity, packages, file, source } = plan;
  const rows: (Row | undefined)[] = [["Server", server_id]];
  if (kind === "oci") rows.push(["Image", `${name}, as it is now; pinned by its id`]);
  else if (kind === "remote") rows.push(["Remote server", name]);
  else if (kind === "binary") rows.push(["Program", `${file?.program} of ${name}`], ["SHA-256", version ?? ""], vouched(plan));
  else {
    rows.push(["Package", `${name} ${version ?? ""} (${kind})`], integrity === undefined ? undefined : ["Hash", integrity]);
    if (packages !== undefined) rows.push(["With", `${count(packages, "package")}, each locked with its version and hash`]);
  }
  rows.push(["Source", source], ...rowsOfRun(plan), ["May", mayWords(plan)], ...(plan.sandbox === undefined ? [] : cautions(plan.sandbox)));
  const others = Object.entries(plan).filter(([field]) => !SAID.includes(field) && !INNER.includes(field));
  const { size: _size, program: _program, vouched_by: _by, key: _key, ...ofFile } = file ?? { size: 0, program: "", vouched_by: [] };
  return [...rows.filter((row) => row !== undefined), ...otherRows("file", ofFile), ...others.flatMap(([field, value]) => otherRows(field, value))];
}

function vouched({ file }: Installed): Row {
  const by = file?.vouched_by ?? [];
  if (by.length === 0) return ["Checked", "by nobody: compare the SHA-256 with its publisher's"];
  return ["Checked", by.map((how) => (how === "signature" ? `the signature of ${file?.key ?? "its publisher"}` : "the SHA-256 that was given")).join(", ")];
}

/** What would be run, and with what: values are those that its author sets. */
function rowsOfRun({ runs }: Installed): Row[] {
  if (runs === undefined) return [];
  const { program, args, env, headers, secrets } = runs;
  const line = [...(program === undefined ? [] : [program]), ...args].map(shellWord).join(" ");
  const rows: Row[] = [
    [program === undefined ? "Arguments" : "Runs", line],
    ["Sets", env.map(wordOf).join(" ")],
    ["Sends", headers.map(wordOf).join(" ")],
    ["Required secrets", secrets.join(", ")],
  ];
  return rows.filter(([, said]) => said !== "");
}

/** As it would be typed. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./{}$-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** What it can do on this machine, and what its sandbox keeps it from. */
export function mayWords({ kind, sandbox, settings }: Pick<Installed, "kind" | "sandbox" | "settings">): string {
  if (kind === "remote") return "It runs on another machine and sees only the arguments of its calls.";
  if (sandbox === undefined || sandbox.level === "off" || sandbox.level === "basic") return "Can: everything that you can, without a sandbox.";
  const { write = [], read = [], sockets = [], hosts = [] } = settings ?? {};
  const places = [
    ["read and write", write],
    ["read", read],
    ["connect to", sockets],
  ] as const;
  const granted = places.filter(([, list]) => list.length > 0).map(([what, list]) => `${what} ${list.join(", ")}`);
  const listens = settings?.listen === undefined ? [] : [`be reached at port ${settings.listen} of this machine`];
  const can = [...networkCan(sandbox.network, hosts), ...listens, ...granted];
  const files = write.length + read.length > 0 ? "your other files" : "your files";
  const cannot = isOffline(sandbox.network) ? `${files}, the network` : files;
  return `${can.length === 0 ? "" : `Can: ${can.join("; ")}. `}Can't: ${cannot}.`;
}

/** The same of a server that is there: besides what it was granted, what it reaches because its command names it. */
export function reachWords({ settings, summary, paths }: Pick<Sandbox, "settings" | "summary" | "paths">): string {
  const named = (wanted: string) => paths.filter(({ access, why }) => access === wanted && (why === "argument" || why === "cwd")).map(({ path }) => path);
  const all = (granted: string[] = [], access: string) => [...new Set([...granted, ...named(access)])];
  return mayWords({ kind: "", sandbox: summary, settings: { ...settings, read: all(settings.read, "read"), write: all(settings.write, "write") } });
}

function networkCan(network: string, hosts: string[]): string[] {
  if (network === "all") return ["use the internet, your local network and localhost"];
  if (network === "hosts") return [hosts.length === 0 ? "connect to the hosts you allow" : `connect to ${hosts.join(", ")}`];
  return [];
}

const isOffline = (network: string) => network === "none" || network === "loopback";

const KINDS: { [kind: string]: string } = { npm: "npm", pypi: "PyPI", oci: "Container", binary: "Program", remote: "Remote", git: "Git" };

/** What a kind of package is called. */
export function kindWords(kind: string): string {
  return KINDS[kind] ?? kind;
}

/** The whole plan in one line. */
export function summaryOf({ server_id, version, kind, sandbox, settings }: Installed): string {
  const short = version !== undefined && version.length <= 20 ? ` ${version}` : "";
  const confined = kind !== "remote" && sandbox !== undefined && sandbox.level !== "off" && sandbox.level !== "basic";
  const { write = [], read = [] } = settings ?? {};
  const places = [...write, ...read];
  const network = sandbox?.network === "hosts" ? "network: chosen hosts" : isOffline(sandbox?.network ?? "") ? "no network" : "full network";
  const files = places.length === 0 ? "no access to your files" : `files: ${places.join(", ")}`;
  const may = kind === "remote" ? ["runs on another machine"] : confined ? [network, files] : ["no sandbox"];
  return [`${server_id}${short}`, kindWords(kind), ...may].join(" · ");
}

/** Whether a fact is a warning, which is never folded away. */
export function isCaution([term]: Row): boolean {
  return term === "Note" || term === "Not enforced here";
}

function cautions({ missing, warnings }: NonNullable<Installed["sandbox"]>): Row[] {
  const said: Row[] = [];
  if (warnings.length > 0) said.push(["Note", warnings.join(" ")]);
  if (missing.length > 0) said.push(["Not enforced here", missing.join(" ")]);
  return said;
}

/** A field that is newer than this, by its own name; of an object its members. */
function otherRows(field: string, value: unknown): Row[] {
  const term = `${field[0]?.toUpperCase()}${field.slice(1).replaceAll("_", " ")}`;
  if (value === undefined || value === null || (Array.isArray(value) && value.length === 0)) return [];
  if (typeof value === "boolean") return [[term, value ? "yes" : "no"]];
  if (Array.isArray(value)) return [[term, value.map(wordOf).join(" ")]];
  if (isFields(value)) return Object.entries(value).flatMap(([name, one]) => otherRows(`${field} ${name}`, one));
  return [[term, String(value)]];
}

/** One of a list: a text, or a name with what it is set to. */
function wordOf(value: unknown): string {
  if (!isFields(value) || typeof value["name"] !== "string") return typeof value === "string" ? value : JSON.stringify(value);
  return value["value"] === undefined ? value["name"] : `${value["name"]}=${value["value"]}`;
}

/** Who names it, and how far that goes. */
export function fromWords({ from, found_in, commit }: Resolved): string {
  if (from === "curated") return "Harbor's own list";
  if (from === "repository") return `${found_in ?? "its repository"} at ${commit ?? "its newest commit"}`;
  if (from === "person") return "named by you";
  return `listed by ${from} (a listing does not mean trust)`;
}
