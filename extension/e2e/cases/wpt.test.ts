// `scripts/wpt`, on a few small files and a harness of this test's own.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import { type Expected, runFile, surprises, testsIn } from "../driver/wpt.ts";

/** The little of a harness that the files need. */
const HARNESS = `
  const tests = [], done = [];
  let turn = Promise.resolve();
  window.promise_test = (run, name) => {
    const test = { name, status: 0, message: null };
    tests.push(test);
    turn = turn.then(() => run({})).catch((error) => { test.status = error.optional ? 4 : 1; test.message = String(error.message); });
  };
  window.add_completion_callback = (callback) => done.push(callback);
  window.assert_equals = (one, other) => { if (one !== other) throw new Error(one + " is not " + other); };
  window.assert_optional = (is) => { if (!is) throw Object.assign(new Error("not here"), { optional: true }); };
  addEventListener("load", () => turn.then(() => turn).then(() => { for (const callback of done) callback(tests, { status: 0, message: null }); }));`;
const DRIVER = `window.test_driver_internal = {};
  window.test_driver = { bless: () => { const button = document.body.appendChild(document.createElement("button")); button.textContent = "bless"; return window.test_driver_internal.click(button); } };`;

const FILES = {
  "resources/testharness.js": HARNESS,
  "resources/testdriver.js": DRIVER,
  "ai/resources/util.js": "window.hello = 'Hello';",
  "ai/language-model/language-model-prompt.tentative.https.window.js": `// META: title=Prompt
// META: script=../resources/util.js
promise_test(async () => assert_equals(await (await LanguageModel.create()).prompt(hello), "Hello"), "it says back what it is told");
promise_test(async () => assert_optional(false), "what is not here is no failure");`,
  "ai/language-model/create/language-model-create.tentative.https.window.js": `// META: script=/resources/testdriver.js
// META: script=/resources/testdriver-vendor.js
promise_test(async () => {
  assert_equals(navigator.userActivation.isActive, false);
  await test_driver.bless();
  assert_equals(navigator.userActivation.isActive, true);
  assert_equals(LanguageModel.isHarbor, true);
}, "a click is a person's, and the model is ours");`,
  "ai/language-model/language-model-wrong.tentative.https.window.js": `promise_test(async () => assert_equals(await LanguageModel.availability(), "never"), "what is wrong is said to be");`,
  "webmcp/imperative/register_tool.https.window.js": `promise_test(async () => {
  await document.modelContext.registerTool({ name: "echo", description: "Says it back", execute: ({ text }) => text });
  assert_equals((await document.modelContext.getTools()).map(({ name }) => name).join(), "echo");
}, "a tool that is registered is there");
promise_test(async () => assert_equals(typeof document.modelContext.provideContext, "function"), "what was taken out of the draft is there");`,
  "webmcp/declarative/form.https.html": `<!doctype html><script src="/resources/testharness.js"></script><script src="/resources/testharnessreport.js"></script>
<form toolname="book" tooldescription="Books"></form><script>promise_test(async () => assert_equals((await document.modelContext.getTools())[0]?.name, "book"), "a form is a tool");</script>`,
  "webmcp/imperative/cross-origin.https.window.js": "promise_test(async () => { throw new Error('left out'); }, 'left out');",
  "webmcp/resources/part.html": "a part of others",
  "ai/language-model/language-model-iframe.tentative.https.window.js": "promise_test(async () => { throw new Error('left out'); }, 'left out');",
};

const KNOWN: Expected = {
  leftOut: { iframe: "documents that are gone ask nobody", "webmcp/.*cross-origin": "tools are of one document" },
  fails: { "webmcp/imperative/register_tool.https.window.js": ["what was taken out of the draft is there"] },
};

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("files of the suite's form are run against ours and held against what is expected, and what is not so is said", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async () => {
          const checkout = join(world.harbor.dir, "wpt");
          for (const [file, text] of Object.entries(FILES)) {
            await mkdir(dirname(join(checkout, file)), { recursive: true });
            await writeFile(join(checkout, file), text);
          }
          const results = [];
          for (const file of await testsIn(checkout, KNOWN)) results.push(await runFile(world, checkout, file));
          const said = results.map((result) => [result.file.replace(/.*[/-](\w+)\..*?(\w+)$/, "$1"), surprises(result, KNOWN)]);
          const none: string[] = [];
          assert.deepEqual(said, [["create", none], ["prompt", none], ["wrong", ["what is wrong is said to be: available is not never"]], ["form", none], ["register_tool", none]], JSON.stringify(results));
          const register = results.at(-1);
          assert.ok(register);
          assert.deepEqual(surprises(register, { ...KNOWN, fails: {} }), ["what was taken out of the draft is there: undefined is not function"]);
          assert.deepEqual(surprises({ file: "x", tests: [{ name: "a" }] }, { leftOut: {}, fails: { x: ["*", "a"] } }), ["the file runs to its end, and was expected not to", "a: passes, and was expected to fail"]);
        }),
      ));
  });
}
