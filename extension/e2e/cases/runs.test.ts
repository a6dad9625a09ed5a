// Runs in real pages: what happens is told in order, and each run has one end, however it ends.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, test } from "node:test";
import { type Page, textOf, until } from "../driver/browser.ts";
import { addDouble } from "../driver/double.ts";
import { Echo } from "../driver/echo.ts";
import { Sidebar } from "../driver/sidebar.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import type { Settled } from "./way.test.ts";

/** How long a cancel may take to leave Harbor: far less than what it ends, and as much as a busy machine may add. */
const AT_ONCE_MS = 5_000;

interface Event {
  type: string;
  runId: string;
  seq: number;
  [name: string]: unknown;
}

interface Run {
  events: Event[];
  /** What the loop threw. */
  thrown?: { code?: string; name: string; message: string };
}

/** Helpers of the page: `begin` begins a run, `window.ended` is its end. */
const HELPERS = `
  window.begin = (options, leave = () => false) => {
    window.events = [];
    window.ended = (async () => {
      try {
        for await (const event of agent.run(options)) {
          events.push(event);
          if (leave(event)) break;
        }
        return { events };
      } catch (error) {
        return { events, thrown: { code: error.code, name: error.name, message: error.message } };
      }
    })();
  };
  window.came = (type) => new Promise((found) => {
    const look = () => (events.some((event) => event.type === type) ? found(true) : setTimeout(look, 5));
    look();
  });
  window.shown ??= (promise) => promise.then((value) => ({ value }), (error) => ({ code: error.code, message: error.message, name: error.name }));
`;

/** A page that may have the echo work with these tools of the double. */
async function ready({ browser, site, harbor }: World, tools = ["t/life", "t/wait", "t/again"]): Promise<{ page: Page; echo: Echo }> {
  const echo = await Echo.start(harbor);
  await addDouble(harbor);
  for (const scope of ["model:prompt", "model:tools"]) await harbor.cli("grant", site.origin, scope, "--always");
  await harbor.cli("grant", site.origin, "mcp:tools.call", "--always", ...tools.flatMap((tool) => ["--tool", tool]));
  const page = await browser.open(site.url);
  await page.run(HELPERS);
  return { page, echo };
}

const begin = (page: Page, options: object, more = "{}", leave = "() => false") => page.run(`begin({ ...${JSON.stringify(options)}, ...${more} }, ${leave})`);
const ended = (page: Page) => page.run("return window.ended") as Promise<Run>;

/** The grammar of a run: numbered without a gap, each call with one result, one end. */
function assertWhole({ events }: Run, end: "final" | "error"): void {
  assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at));
  assert.equal(new Set(events.map(({ runId }) => runId)).size, 1);
  const ends = events.filter(({ type }) => type === "final" || type === "error");
  assert.deepEqual([ends.length, events.at(-1)?.type], [1, end]);
  const ids = (type: string) => events.filter((event) => event.type === type).map(({ callId }) => callId);
  assert.deepEqual(ids("tool_result").sort(), ids("tool_call").sort());
}

const CALL = "<GenerateSimpleToolCalls>";

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a run calls a tool, and its answer has what the tool said; citations point at the call", () =>
      inBrowser.run(async (world: World) => {
        const { page, echo } = await ready(world);
        await begin(page, { task: CALL, tools: ["t/life"], requireCitations: true });
        const run = await ended(page);
        assertWhole(run, "final");
        const [call, result] = run.events.filter(({ type }) => type.startsWith("tool_"));
        assert.deepEqual([call?.["tool"], call?.["args"]], ["t/life", { input: "text" }]);
        const [{ text: life }] = (result?.["result"] as { content: { text: string }[] }).content as [{ text: string }];
        const final = run.events.at(-1);
        assert.ok((final?.["output"] as string).includes(life), "the echo says what it was told");
        assert.deepEqual(final?.["citations"], [{ source: "t/life", ref: call?.["callId"], excerpt: life }]);
        const tokens = run.events.filter(({ type }) => type === "token").map(({ token }) => token).join("");
        assert.ok(tokens.includes(life));
        assert.equal(echo.asked.length, 2);
        await echo.end();
      }));

    test("wrong options reject the first next(), and nothing begins", () =>
      inBrowser.run(async (world: World) => {
        const { page, echo } = await ready(world);
        const wrong = ["undefined", "{}", "{ task: 1 }", "{ task: ' ' }", "{ task: 'x'.repeat(1e6) }", "{ task: 'x', tools: 'y' }", "{ task: 'x', maxToolCalls: -1 }", "{ task: 'x', signal: {} }", "{ get task() { throw Object.assign(new Error('mine'), { code: 'MINE' }); } }"];
        for (const options of wrong) {
          const { code } = (await page.run(`return shown(agent.run(${options}).next())`)) as Settled;
          assert.equal(code, options.includes("MINE") ? "MINE" : "ERR_INVALID_REQUEST", options);
        }
        const other = async (options: string) => ((await page.run(`return shown(agent.run(${options}).next())`)) as Settled).code;
        assert.equal(await other("{ task: 'x', tools: ['t/large'] }"), "ERR_TOOL_NOT_ALLOWED");
        assert.equal(await other("{ task: 'x', sessionId: 'none' }"), "ERR_SESSION_NOT_FOUND");
        await world.harbor.cli("revoke", world.site.origin, "model:tools");
        assert.equal(await other("{ task: 'x' }"), "ERR_SCOPE_REQUIRED");
        assert.equal(echo.asked.length, 0);
        await echo.end();
      }));

    test("abort, break and return() end a run in each phase: once, at once, and the provider is left", () =>
      inBrowser.run(async (world: World) => {
        const { page, echo } = await ready(world);
        const aborting = "(window.stopper = new AbortController(), { signal: stopper.signal })";
        const abort = async (): Promise<number> => (await page.run("stopper.abort(new Error('enough')); return Date.now()")) as number;
        // Before it begins.
        await begin(page, { task: "<hang>" }, "{ signal: AbortSignal.abort(new Error('enough')) }");
        const early = await ended(page);
        assert.deepEqual([early.events, early.thrown?.message], [[], "enough"]);
        // While the model writes.
        await begin(page, { task: "<hang>" }, aborting);
        await page.run("return came('token')");
        const at = await abort();
        const late = await ended(page);
        assert.deepEqual([late.thrown?.message, late.events.map(({ type }) => type)], ["enough", ["token"]]);
        assert.ok((await echo.leaving(1)) - at < AT_ONCE_MS);
        // While a tool works.
        await begin(page, { task: CALL, tools: ["t/wait"] }, aborting);
        await page.run("return came('tool_call')");
        await abort();
        assert.equal((await ended(page)).thrown?.message, "enough");
        // After its end.
        await begin(page, { task: "hello" }, aborting);
        assertWhole(await ended(page), "final");
        await abort();
        assert.equal(((await page.run("return shown((async () => { const run = agent.run({ task: 'hello' }); for await (const _ of run); return run.next(); })())")) as { value: { done: boolean } }).value.done, true);
        // The page leaves the loop, or does not wait for what it asked for.
        await begin(page, { task: "<hang>" }, "{}", "({ type }) => type === 'token'");
        assert.equal((await ended(page)).thrown, undefined);
        await echo.leaving(2);
        await page.run("window.run = agent.run({ task: '<hang>' }); await run.next(); window.waiting = run.next(); await run.return()");
        assert.equal(((await page.run("return window.waiting")) as { done: boolean }).done, true);
        await echo.leaving(3);
        await echo.end();
      }));

    test("a page that goes, and a tab that is closed, leave no run behind; another tab goes on", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const { page, echo } = await ready(world);
        await begin(page, { task: "<hang>" });
        await page.run("return came('token')");
        await page.goto(`${site.url}?again`);
        await echo.leaving(1);
        await page.run(HELPERS);
        const other = await browser.open(site.url);
        await other.run(HELPERS);
        for (const one of [page, other]) await begin(one, { task: "<hang>" });
        for (const one of [page, other]) await one.run("return came('token')");
        await other.close();
        await echo.leaving(2);
        await begin(page, { task: "hello" });
        assertWhole(await ended(page), "final");
        await echo.end();
      }));

    test("a bridge that is killed ends a run with one error that may be tried again", () =>
      inBrowser.run(async (world: World) => {
        const { page, echo } = await ready(world);
        await begin(page, { task: "<hang>" });
        await page.run("return came('token')");
        const { bridge } = JSON.parse(await world.harbor.cli("status", "--json"));
        execFileSync("kill", ["-9", String(bridge.pid)]);
        const run = await ended(page);
        assertWhole(run, "error");
        assert.equal((run.events.at(-1)?.["error"] as { retryable: boolean }).retryable, true);
        await until("another bridge", async () => {
          await begin(page, { task: "hello" });
          return (await ended(page)).events.at(-1)?.type === "final" || undefined;
        });
        await echo.end();
      }));

    test("a call after what nobody vouches for asks the person, in a window of Harbor", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const { page, echo } = await ready(world);
        for (const button of ["#once", "#deny"]) {
          await begin(page, { task: CALL, tools: ["t/again"], maxToolCalls: 2 });
          const consent = await browser.find("consent.html");
          assert.equal(await textOf(consent, "#origin"), site.origin);
          assert.match(await textOf(consent, "#wish"), /t\/again/);
          assert.match(await textOf(consent, ".args"), /input\s*text/);
          const hidden = "return ['#always', '#servers'].every((one) => !document.querySelector(one).checkVisibility())";
          assert.equal(await consent.run(hidden), true);
          await consent.click(button);
          const run = await ended(page);
          assertWhole(run, "final");
          const results = run.events.filter(({ type }) => type === "tool_result");
          assert.deepEqual(results.map(({ error }) => (error as { code: string } | undefined)?.code), [undefined, button === "#once" ? undefined : "ERR_PERMISSION_DENIED"]);
          await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
        }
        // A run that ends takes its question with it.
        await begin(page, { task: CALL, tools: ["t/again"] }, "(window.stopper = new AbortController(), { signal: stopper.signal })");
        await textOf(await browser.find("consent.html"), ".args");
        await page.run("stopper.abort(new Error('enough'))");
        assert.equal((await ended(page)).thrown?.message, "enough");
        await until("the window to close", async () => (await browser.count("consent.html")) === 0 || undefined);
        await echo.end();
      }));

    test("the panel shows what a site has used of models, limits it, and takes it back: a run ends", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const { page, echo } = await ready(world);
        const sidebar = await Sidebar.open(browser, `site/${encodeURIComponent(site.origin)}`);
        await sidebar.says("#used", /^0 tokens used today, of 50,000$/);
        await begin(page, { task: "hello" });
        assertWhole(await ended(page), "final");
        await sidebar.says("#used", /^[1-9]\d* tokens used today, of 50,000$/);
        await sidebar.click("#budget");
        await sidebar.type("#tokens", "many");
        await sidebar.click("#save-budget");
        await sidebar.says("#tokens-problem", /whole number/);
        await sidebar.type("#tokens", "7");
        await sidebar.click("#save-budget");
        await sidebar.says("#used", /of 7$/);
        await begin(page, { task: "hello" });
        assert.equal((await ended(page)).events.at(-1)?.type, "error");
        await sidebar.click("#budget");
        await sidebar.click("#default-budget");
        await sidebar.says("#used", /of 50,000$/);
        await begin(page, { task: "<hang>" });
        await page.run("return came('token')");
        await sidebar.click("[data-revoke=all]");
        const run = await ended(page);
        assertWhole(run, "error");
        assert.match((run.events.at(-1)?.["error"] as { code: string }).code, /ERR_(SCOPE_REQUIRED|CANCELLED)/);
        await echo.leaving(1);
        await echo.end();
      }));

    test("a run that names a model may know of models; one that may use all has all; what is too large is said; throw() ends it", () =>
      inBrowser.run(async ({ browser, site, harbor }: World) => {
        const bare = await browser.open(site.url);
        const can = async (page: Page) => (await page.run("const { model, runs } = await agent.capabilities(); return [model.available, runs.available, readyEvents]")) as unknown[];
        assert.deepEqual(await can(bare), [false, false, 1]);
        const { page, echo } = await ready({ browser, site, harbor } as World, ["t/large"]);
        assert.deepEqual(await can(page), [true, true, 1]);
        const code = async (promise: string) => ((await page.run(`return shown(${promise})`)) as Settled).code;
        const naming = ["agent.run({ task: 'x', provider: 'echo' }).next()", "agent.run({ task: 'x', model: 'echo:echo' }).next()", "agent.sessions.create({ capabilities: { llm: { provider: 'echo' } } })"];
        for (const named of naming) assert.equal(await code(named), "ERR_SCOPE_REQUIRED", named);
        await harbor.cli("grant", site.origin, "model:list", "--always");
        for (const named of naming) assert.equal(await code(named), undefined, named);
        await begin(page, { task: CALL, useAllTools: true });
        const run = await ended(page);
        assertWhole(run, "final");
        const { tool, error } = run.events.find(({ type }) => type === "tool_result") as { tool?: string; error?: { code: string } } & Event;
        assert.deepEqual([tool, error?.code], ["t/large", "ERR_INVALID_REQUEST"]);
        const thrown = "(async () => { const run = agent.run({ task: '<hang>' }); await run.next(); return run.throw(new TypeError('mine')); })()";
        assert.deepEqual(((await page.run(`return shown(${thrown})`)) as { name: string }).name, "TypeError");
        await echo.leaving(1);
        await echo.end();
      }));

    test("sessions keep what was said, count, and end", () =>
      inBrowser.run(async (world: World) => {
        const { browser, site } = world;
        const { page, echo } = await ready(world);
        const wish = { name: "Trip", capabilities: { llm: {}, tools: ["t/life"] }, limits: { maxToolCalls: 1 }, options: { systemPrompt: "Be short." } };
        const made = (await page.run(`return agent.sessions.create(${JSON.stringify(wish)})`)) as { success: boolean; sessionId: string; capabilities: object };
        assert.deepEqual([made.success, made.capabilities], [true, { hasLLM: true, toolCount: 1, hasBrowserAccess: false }]);
        const { sessionId } = made;
        for (const task of ["first", CALL]) {
          await begin(page, { task, sessionId });
          assertWhole(await ended(page), "final");
        }
        const said = JSON.stringify(echo.asked.at(-1)?.messages);
        assert.ok(said.includes("first") && said.includes("Be short."));
        await begin(page, { task: "third", sessionId });
        assert.equal((await ended(page)).thrown?.code, "ERR_BUDGET_EXCEEDED");
        const got = (await page.run(`return agent.sessions.get("${sessionId}")`)) as { usage: object; name: string };
        assert.equal(got.name, "Trip");
        assert.deepEqual(Object.values(got.usage).slice(0, 2), [2, 1]);
        const other = await browser.open(site.url);
        assert.deepEqual(await other.run("return agent.sessions.list()"), []);
        assert.equal(((await page.run("return agent.sessions.list()")) as unknown[]).length, 1);
        assert.deepEqual(await page.run(`return [await agent.sessions.terminate("${sessionId}"), await agent.sessions.terminate("${sessionId}"), await agent.sessions.get("${sessionId}")]`), [true, false, null]);
        const tabs = (await page.run("return shown(agent.sessions.create({ capabilities: { llm: {}, browser: ['read'] } }))")) as Settled;
        assert.equal(tabs.code, "ERR_FEATURE_DISABLED");
        await echo.end();
      }));
  });
}
