// What the sidebar's views say of servers, of the catalog, and of AI clients, with a bridge that the test plays.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { CatalogEntry, Grant, Sandbox, Server } from "../../shared/protocol/generated/messages.ts";
import { installedAs } from "./catalogued.ts";
import { ALL } from "./days.ts";
import { type Child, type VNode, textIn } from "./dom.ts";
import { Hands } from "./hands.ts";
import { grouped, needing } from "./groups.ts";
import { failureNotice } from "./parts.ts";
import { reachWords } from "./plan.ts";
import { parseRoute } from "./route.ts";
import { NO_SEARCH } from "./search.ts";
import { type State, Store } from "./store.ts";
import { add, publisherOf } from "./views/add.ts";
import { install } from "./views/install.ts";
import { overview } from "./views/server.ts";
import { servers } from "./views/servers.ts";
import { site } from "./views/site.ts";
import { sites } from "./views/sites.ts";
import { standingOf } from "./words.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

const SERVER = { server_id: "git", label: "git", state: "stopped", command: "npx", args: [], env_names: [], since: 0, restarts: 0, supervision: {} } as unknown as Server;

/** A panel with this state, and a bridge that gives these replies. */
function panel(state: object, replies: { [type: string]: object } = {}): { hands: Hands; asked: string[] } {
  const asked: string[] = [];
  const begun = { acts: {}, said: "", missing: {}, ways: {}, servers: [], grants: [], search: NO_SEARCH, offered: {}, logged: ALL, ...state };
  const hands = new Hands(new Store(begun as unknown as State, () => undefined), async (type) => {
    asked.push(type);
    const reply = replies[type];
    if (reply === undefined) throw new Error(`nobody plays ${type}`);
    return reply;
  });
  return { hands, asked };
}

const said = (shown: Child[]) => shown.map(textIn).join("\n");

function found(within: Child[], is: (node: VNode) => boolean): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(is(child) ? [child] : []), ...found(child.children, is)] : []));
}

const links = (shown: Child[]) => found(shown, ({ attributes }) => attributes["href"] !== undefined).map((link) => [textIn(link), link.attributes["href"]]);

test("no element has the name of a place, to which the browser would scroll", () => {
  const places = ["servers", "sites", "questions", "activity", "browser", "add"];
  assert.deepEqual(places.map((place) => parseRoute(`#${place}`).at), places);
  const dir = join(__ROOT__, "harbor/sidebar");
  const files = readdirSync(dir, { recursive: true }).map(String).filter((file) => /\.(ts|html)$/.test(file) && !file.includes(".test."));
  const ids = files.flatMap((file) => [...readFileSync(join(dir, file), "utf8").matchAll(/\bid(?:: |=)"(.*?)"/g)].map(([, id = ""]) => id));
  assert.ok(ids.includes("filter") && ids.includes("view"), "so this test would see one");
  assert.deepEqual(ids.filter((id) => places.includes(id)), []);
});

const HELD = {
  settings: { read: ["/home/me/proj"] },
  summary: { level: "standard", held_by: "", network: "none", missing: [], warnings: [] },
  paths: [
    { path: "/usr", access: "read", why: "system" },
    { path: "/home/me/proj", access: "read", why: "granted" },
    { path: "/home/me/run.mjs", access: "read", why: "argument" },
    { path: "/home/me/.harbor/servers/git/data", access: "write", why: "data" },
  ],
} as unknown as Sandbox;

test("of files it is said that a server can't reach them only where it can't", async () => {
  assert.equal(reachWords(HELD), "Can: read /home/me/proj, /home/me/run.mjs. Can't: your other files, the network.");
  assert.equal(reachWords({ ...HELD, settings: {}, paths: HELD.paths.slice(0, 1) }), "Can't: your files, the network.");
  const here = { at: "server", id: "git", part: "overview" } as const;
  const replies = { get_server_status: { server: SERVER }, get_sandbox: { sandbox: HELD } };
  const { hands } = panel({ servers: [SERVER], detail: { id: "git" } }, replies);
  assert.doesNotMatch(said(overview.show(hands, here)), /Can't/);
  overview.enter?.(hands, here, new AbortController().signal);
  for (let at = 0; at < 9; at += 1) await settle();
  assert.match(said(overview.show(hands, here)), /Sandbox.*read \/home\/me\/proj, .*Can't: your other files/s);
  // It changes while somebody looks, by a command in a terminal.
  replies.get_sandbox = { sandbox: { ...HELD, settings: { write: ["/home/me/new"] } } };
  overview.heard?.(hands, here, "servers", {});
  for (let at = 0; at < 9; at += 1) await settle();
  assert.match(said(overview.show(hands, here)), /read and write \/home\/me\/new/);
  const remote = panel({ servers: [{ ...SERVER, remote: { url: "https://a.example" } }], detail: { id: "git" } });
  assert.match(said(overview.show(remote.hands, here)), /It runs on another machine/);
});

test("a program that is not there is named first, and the message stands in the details", () => {
  const message = "could not run /opt/nowhere/bin/mcp: No such file or directory (os error 2); check the path";
  const failed = { ...SERVER, state: "failed", last_error: message, last_exit: { cause: "spawn_failed", message, timestamp: 0 } } as Server;
  assert.deepEqual(standingOf(failed), { tone: "bad", words: "The program /opt/nowhere/bin/mcp does not exist" });
  const shown = overview.show(panel({ servers: [failed], detail: { id: "git" } }).hands, { at: "server", id: "git", part: "overview" });
  assert.match(said(shown), /Why it is not runningThe program \/opt\/nowhere\/bin\/mcp does not exist\.Install it/);
  assert.match(said(found(shown, ({ tag }) => tag === "details")), /Details.*os error 2/);
  const other = (text: string) => standingOf({ ...failed, last_error: text, last_exit: { cause: "spawn_failed", message: text, timestamp: 0 } }).words;
  assert.equal(other("could not run npx: No such file or directory (os error 2)"), "The program npx is not installed, or not in PATH");
  // The script is there.
  const script = "could not run /a/s by its interpreter /b/node: No such file or directory (os error 2)";
  assert.equal(other(script), script);
});

const ENTRY = { id: "604e5b665c4d437c", source: "curated", name: "memory", title: "Memory", description: "", status: "active", kinds: ["npm"], featured: true } as CatalogEntry;
const WAYS = { packages: [{ registryType: "npm", identifier: "@a/server-memory" }], remotes: [] };
const MEMORY = { ...SERVER, server_id: "mem", package: "@a/server-memory@2026.8.31" };

test("a server is of an entry by its package, image or address, and not by its name", () => {
  const ways = {
    packages: [...WAYS.packages, { registryType: "pypi", identifier: "mcp_server.Time" }, { registryType: "oci", identifier: "ghcr.io/a/b" }, null, {}],
    remotes: [{ url: "https://a.example/mcp" }, 1],
  };
  const is = (more: object) => installedAs(ways, [{ ...SERVER, ...more } as Server]).length === 1;
  for (const mine of [
    { package: "@a/server-memory@2026.8.31" },
    { package: "@a/server-memory" },
    { package: "mcp-server-time==1.2" },
    { image: { reference: "ghcr.io/a/b:1@sha256:00" } },
    { remote: { url: "https://a.example/mcp" } },
  ]) {
    assert.ok(is(mine), JSON.stringify(mine));
  }
  for (const other of [{}, { server_id: "memory" }, { package: "server-memory@1" }, { package: "mcp-server-time@1" }, { package: "@a/server-memory==1" }, { image: { reference: "ghcr.io/a/bc:1" } }]) {
    assert.ok(!is(other), JSON.stringify(other));
  }
  assert.deepEqual(installedAs({ packages: "x", remotes: null } as never, [SERVER]), []);
});

test("the catalog says what is installed, and leads to its server", async () => {
  const { hands, asked } = panel({ servers: [MEMORY] }, { catalog_get: { entries: [ENTRY], total: 1 }, catalog_entry: { details: { entry: ENTRY, ...WAYS } } });
  add.enter?.(hands, { at: "add" }, new AbortController().signal);
  for (let at = 0; at < 9; at += 1) await settle();
  assert.deepEqual(asked, ["catalog_get", "catalog_entry"]);
  const actions = () => links(add.show(hands, { at: "add" })).slice(2, 3);
  assert.deepEqual(actions(), [["Installed", "#server/mem/overview"]]);
  hands.change({ servers: [] });
  assert.deepEqual(actions(), [["Install", "#install/604e5b665c4d437c"]]);
});

test("what is installed is not planned again unasked, and a name that is taken is said in the panel's words", async () => {
  const about = { source: "x", server_id: "mem", from: "curated", notes: [], ways: [{ source: "npm:@a/server-memory" }], way: 0, inputs: [], variables: [], secrets: [], installed: ["mem", "gone"] };
  const { hands, asked } = panel({ servers: [MEMORY] }, { resolve_server: { server: about } });
  const here = { at: "install", source: "memory" } as const;
  install.enter?.(hands, here, new AbortController().signal);
  for (let at = 0; at < 9; at += 1) await settle();
  assert.deepEqual(asked, ["resolve_server"]);
  const shown = install.show(hands, here);
  assert.match(said(shown), /InstalledYou have this server: mem\..*Install another one/);
  assert.doesNotMatch(said(shown), /exists already/);
  assert.ok(links(shown).some(([words, href]) => words === "Open mem" && href === "#server/mem/overview"));
  found(shown, ({ attributes }) => attributes["id"] === "again")[0]?.on["click"]?.({} as Event);
  // The name that is taken is no proposal.
  assert.deepEqual(found(install.show(hands, here), ({ attributes }) => attributes["name"] === "server_id").map(({ initial, attributes }) => [initial.value, attributes["required"]]), [["", true]]);
  // Another server, and not one of this source, has the name.
  const other = panel({ servers: [MEMORY] }, { resolve_server: { server: { ...about, installed: [] } } });
  install.enter?.(other.hands, here, new AbortController().signal);
  for (let at = 0; at < 9; at += 1) await settle();
  assert.deepEqual(other.asked, ["resolve_server"]);
  assert.match(said(install.show(other.hands, here)), /Continue.*a server named mem exists already: choose another name/s);
  const refused = failureNotice({ code: "invalid_params", message: "a server mem exists already; choose another name with --name, or upgrade it: `harbor upgrade mem`", details: { field: "server_id" } });
  assert.equal(textIn(refused), "This name cannot be used: another server has it, or Harbor itself. Choose another name.");
});

test("no code is shown of a failure", () => {
  for (const code of ["invalid_params", "ERR_TOOL_FAILED", "of a newer bridge"]) assert.doesNotMatch(textIn(failureNotice({ code, message: "why" })), new RegExp(code));
});

const CLIENT = "client://editor";
const grants = (allowed_tools?: string[]) => [{ origin: CLIENT, profile: "default", scope: "mcp:tools.call", grant_type: "ALLOW_ALWAYS", created_at: 0, allowed_tools }] as unknown as Grant[];

test("a client's page has a switch for each browser that it has, and for the one that is here", () => {
  const shown = (tools: string[] | undefined, browser?: object) => site.show(panel({ servers: [SERVER], grants: grants(tools), browser }).hands, { at: "site", origin: CLIENT });
  const switches = (tools: string[] | undefined, browser?: object) =>
    found(shown(tools, browser), ({ attributes }) => attributes["data-switch"] !== undefined).map((node) => [textIn(node), node.attributes["aria-checked"]]);
  const [git, here] = [["git", "true"], { on: true, permitted: true, downloads: false, cookies: false, source: "browser", sessions: [] }];
  assert.deepEqual(switches(undefined), [git]);
  // All servers are no browser.
  assert.deepEqual(switches(undefined, here), [git, ["Browser tools", "false"]]);
  assert.deepEqual(switches(["git/*", "browser/*"]), [git, ["Browser tools", "true"]]);
  assert.deepEqual(switches(["*", "browser:work/browser_click"], here), [git, ["Browser tools", "false"], ["Browser tools (work)", "true"]]);
});

test("on the list an app is one row, which leads to its switches", () => {
  const shown = sites.show(panel({ grants: grants() }).hands, { at: "sites" });
  assert.ok(links(shown).some(([words, href]) => words === "editor" && href === `#site/${encodeURIComponent(CLIENT)}`));
  assert.match(said(shown), /AI apps \(1\)\sEDeditorall tools.*Web sites\sNo web site has access yet.*Browser control.*Questions that wait \(0\)/s);
});

test("servers stand in groups: what needs the person first, and there what has failed", () => {
  const one = (server_id: string, more: object) => ({ ...SERVER, server_id, label: server_id, ...more }) as Server;
  const list = [
    one("ready", { shown_state: "ready", tool_count: 3 }),
    one("runs", { state: "running", shown_state: "running", tool_count: 1 }),
    one("off", { shown_state: "stopped" }),
    one("keyless", { shown_state: "needs_key" }),
    one("broken", { state: "failed", shown_state: "failed" }),
  ];
  const missing = { keyless: ["KEY"] };
  const groups = (held = {}) => grouped(list, missing, held).map(([group, mine]) => [group, mine.map(({ server_id }) => server_id).join()]);
  assert.deepEqual(groups(), [["needs", "broken,keyless"], ["running", "runs"], ["ready", "ready"], ["stopped", "off"]]);
  // What the person has just stopped stays where they pressed.
  assert.deepEqual(groups({ off: "running" })[1], ["running", "runs,off"]);
  assert.equal(needing(list, missing), 2);
  const shown = servers.show(panel({ servers: list, missing, filter: "" }).hands, { at: "servers" });
  assert.match(said(shown), /Needs you \(2\).*broken.*keyless.*Set KEY.*Running \(1\).*1 tool.*Ready \(1\).*3 tools.*Stopped \(1\)/s);
});

test("a missing key is typed where it is said, and the value goes nowhere else", async () => {
  const mine = { ...SERVER, state: "failed" } as Server;
  const replies = { set_credential: { running: false }, get_server_status: { server: mine }, get_credential_status: { status: { missing: [], configured: ["KEY"], expired: [] } }, list_credentials: { credentials: [] }, connect_server: {} };
  const { hands, asked } = panel({ servers: [mine], missing: { git: ["KEY"] }, detail: { id: "git" } }, replies);
  const shown = overview.show(hands, { at: "server", id: "git", part: "overview" });
  assert.match(said(shown), /Set KEY to start it.*Save and start/s);
  const input = { value: "s3cret" };
  const [form] = found(shown, ({ tag }) => tag === "form");
  form?.on["submit"]?.({ preventDefault: () => undefined, currentTarget: { elements: { namedItem: () => input } } } as unknown as Event);
  assert.equal(input.value, "");
  for (let at = 0; at < 20; at += 1) await settle();
  assert.deepEqual(asked, ["set_credential", "get_server_status", "get_credential_status", "list_credentials", "connect_server"]);
  assert.doesNotMatch(JSON.stringify(hands.state), /s3cret/);
});

test("what no list has is looked up as a package of that very name", () => {
  const search = (query: string) => add.show(panel({ search: { ...NO_SEARCH, query, entries: [], total: 0 } }).hands, { at: "add" });
  assert.deepEqual(links(search("postgres")).slice(1, 3), [["Look up “postgres” at npm", "#install/npm%3Apostgres"], ["Look up “postgres” at PyPI", "#install/pypi%3Apostgres"]]);
  assert.ok(!links(search("two words")).some(([words]) => String(words).startsWith("Look up “")));
  assert.deepEqual(["io.github.me/x", "com.example/x", "time", "@a/b"].map(publisherOf), ["by me on GitHub", "by example.com", "", ""]);
});
