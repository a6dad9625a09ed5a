// One table of what pages find, made from types/index.d.ts; and what a script that defines it really has.
//
// Owns how the declarations are read: by the forms that they have, each member on a line of its own that ends with `;`. Must never know a
// member by its name. The script runs in a world of node's own, with as much of a browser as it looks at before a page asks for anything.

import { createContext, runInContext } from "node:vm";
import { FakeChannel, handOver, pageGlobals } from "./page_world.mjs";

/**
 * What an object has: its members, and what those that are objects have.
 * @typedef {{ [member: string]: Table | "leaf" }} Table
 */

/** By what a page's developer says what the mock answers; it has no part in the page API. */
const OF_MOCK = "harborMock";

/** What text sessions are comes from a call, and is looked at there. */
const SESSION = "TextSession";

/**
 * The table of a file of declarations: from `Window` on, and of text sessions.
 * @param {string} text
 * @returns {{ window: Table, session: Table }}
 */
export function tableOf(text) {
  const bare = text.replace(/\/\*[^]*?\*\/|^ *\/\/.*$/gm, "");
  /** @type {Map<string, string>} */
  const interfaces = new Map();
  for (const { 1: name = "", index, 0: head } of bare.matchAll(/interface (\w+)[^{]*\{/g)) interfaces.set(name, bodyAt(bare, index + head.length));
  return { window: membersOf(interfaces.get("Window") ?? "", interfaces, []), session: membersOf(interfaces.get(SESSION) ?? "", interfaces, []) };
}

/**
 * What stands between the brace before `start` and its partner.
 * @param {string} text
 * @param {number} start
 */
function bodyAt(text, start) {
  let depth = 1;
  let end = start;
  while (depth > 0 && end < text.length) {
    if (text[end] === "{") depth += 1;
    if (text[end] === "}") depth -= 1;
    end += 1;
  }
  return text.slice(start, end - 1);
}

/**
 * @param {string} body
 * @param {Map<string, string>} interfaces
 * @param {string[]} path of interfaces, so that one that has itself comes to an end
 * @returns {Table}
 */
function membersOf(body, interfaces, path) {
  /** @type {Table} */
  const table = {};
  for (const member of split(body)) {
    const [, name, rest = ""] = /^(?:readonly )?(\w+)\??\s*([^]*)$/.exec(member) ?? [];
    if (name === undefined) continue;
    const type = rest.startsWith(":") ? rest.slice(1).trim() : "";
    const named = interfaces.get(type);
    if (type.startsWith("{")) table[name] = membersOf(bodyAt(type, 1), interfaces, path);
    else table[name] = named === undefined || path.includes(type) ? "leaf" : membersOf(named, interfaces, [...path, type]);
  }
  return table;
}

/**
 * The members of a body, without what stands around them.
 * @param {string} body
 */
function split(body) {
  const all = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at <= body.length; at += 1) {
    const letter = body[at] ?? ";";
    if ("{(".includes(letter)) depth += 1;
    if ("})".includes(letter)) depth -= 1;
    if (letter !== ";" || depth > 0) continue;
    all.push(body.slice(start, at).trim());
    start = at + 1;
  }
  return all.filter((member) => member !== "");
}

/**
 * What a script has that defines the page API: the same table, of its objects.
 * @param {string} script
 * @param {{ window: Table, session: Table }} table says which objects are looked into
 * @returns {Promise<{ window: Table, session: Table }>}
 */
export async function membersIn(script, table) {
  const world = pageGlobals();
  const before = new Set(Object.getOwnPropertyNames(world.window));
  runInContext(script, createContext(world));
  // A mock has done so itself.
  const channel = new FakeChannel();
  if (!("harbor" in world.window)) handOver(world, channel);
  const { window } = world;
  /** @type {Table} */
  const found = {};
  for (const name of Object.getOwnPropertyNames(window).filter((one) => !before.has(one) && one !== OF_MOCK)) found[name] = foundIn(window[name], table.window[name]);
  window[OF_MOCK]?.answer({ clicks: false });
  const session = await window["ai"]?.createTextSession();
  return { window: found, session: /** @type {Table} */ (foundIn(session, table.session)) };
}

/**
 * @param {any} value
 * @param {Table | "leaf" | undefined} table
 * @returns {Table | "leaf"}
 */
function foundIn(value, table) {
  if (table === undefined || table === "leaf" || value === null || value === undefined) return "leaf";
  const own = Object.getOwnPropertyNames(value).filter((name) => !OF_FUNCTIONS.has(name) || Object.hasOwn(table, name));
  // Only what is looked into is read: what a prototype says of a session is said by sessions alone.
  const read = (/** @type {string} */ name) => (Object.hasOwn(table, name) && table[name] !== "leaf" ? foundIn(value[name], table[name]) : "leaf");
  return Object.fromEntries(own.map((name) => [name, read(name)]));
}

/** What every class and its prototype have. */
const OF_FUNCTIONS = new Set(["length", "name", "prototype", "constructor"]);

/**
 * Where `whose` has a member that is not declared, or lacks one that is.
 * @param {string} whose
 * @param {{ window: Table, session: Table }} declared
 * @param {{ window: Table, session: Table }} found
 * @returns {string[]}
 */
export function differences(whose, declared, found) {
  const [wanted, has] = [pathsOf(declared.window, "window"), pathsOf(found.window, "window")];
  wanted.push(...pathsOf(declared.session, SESSION));
  has.push(...pathsOf(found.session, SESSION));
  return [
    ...has.filter((path) => !wanted.includes(path)).map((path) => `${whose} has ${path}, which types/index.d.ts does not declare`),
    ...wanted.filter((path) => !has.includes(path)).map((path) => `${whose} lacks ${path}, which types/index.d.ts declares`),
  ];
}

/**
 * @param {Table} table
 * @param {string} from
 * @returns {string[]}
 */
function pathsOf(table, from) {
  return Object.entries(table).flatMap(([name, more]) => [`${from}.${name}`, ...(more === "leaf" ? [] : pathsOf(more, `${from}.${name}`))]);
}
