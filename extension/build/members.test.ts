// The table of members holds for the extension and the mock, and sees one that is in one of them only.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build } from "esbuild";
import { differences, membersIn, tableOf } from "./members.mjs";
import { MOCK, SCRIPTS, optionsOf } from "./scripts.mjs";

const DECLARED = readFileSync(join(__ROOT__, "types/index.d.ts"), "utf8");
const DEFINE = { __VERSION__: '"0"', __BROWSER__: '"chrome"', __HARBOR_ID__: '"h"', __WEB_AGENTS_API_ID__: '"w"' };

/** The script of this name, as it is built. */
async function script(set: Parameters<typeof optionsOf>[0], name: string): Promise<string> {
  const { outputFiles = [] } = await build({ ...optionsOf(set, "chrome", DEFINE), absWorkingDir: __ROOT__, outdir: "dist", write: false });
  return outputFiles.find(({ path }) => path.endsWith(`/${name}.js`))?.text ?? "";
}

const injected = () => script(SCRIPTS["web-agents-api"].find(({ files }) => "injected" in files) ?? MOCK, "injected");

test("declarations are read with what is in them, inline or by name, and an interface that has itself comes to an end", () => {
  const table = tableOf(`
    // interface Window { no: 1 }
    export interface Tool { /** a; b */ readonly name: string; call(given: { a: number; b(): void }): Promise<{ c: 1 }>; }
    export interface Api { list(): Tool[]; readonly tools: { add?(tool: Tool): void; readonly first: Tool; }; again: Api; [name: string]: unknown; }
    export interface TextSession extends EventTarget { prompt(text: string): Promise<string>; }
    declare global { interface Window { api?: Api; } interface WindowEventMap { "ready": Event; } }`);
  assert.deepEqual(table.window, { api: { list: "leaf", tools: { add: "leaf", first: { name: "leaf", call: "leaf" } }, again: "leaf" } });
  assert.deepEqual(table.session, { prompt: "leaf" });
});

test("extension and mock have what types/index.d.ts declares, and nothing else", async () => {
  const table = tableOf(DECLARED);
  assert.deepEqual(differences("the extension", table, await membersIn(await injected(), table)), []);
  assert.deepEqual(differences("the mock", table, await membersIn(await script(MOCK, "harbor-mock"), table)), []);
});

test("a member that is in one of them only is named, however deep it is", async () => {
  const more = tableOf(DECLARED.replace("getActive(): ", "getAll(): Promise<object>; getActive(): ").replace("destroy(): void;", "destroy(): void; end(): void;"));
  const found = await membersIn(await injected(), more);
  assert.deepEqual(differences("it", more, found).map((one) => one.split(",")[0]), ["it lacks window.harbor.ai.providers.getAll", "it lacks window.ai.providers.getAll", "it lacks TextSession.end"]);
  const fewer = tableOf(DECLARED.replace("readonly contextWindow: number;", "").replace("runtime: {", "engine: {"));
  const said = differences("it", fewer, await membersIn(await injected(), fewer));
  for (const path of ["it has window.ai.runtime, ", "it has window.LanguageModel.prototype.contextWindow, ", "it lacks window.harbor.ai.engine, "]) assert.ok(said.some((one) => one.startsWith(path)), `${path}: ${said.join("; ")}`);
});
