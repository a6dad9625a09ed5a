// `scripts/wpt`, on three small files and a harness of this test's own.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { withEcho } from "../driver/models.ts";
import { type World, inBrowsers } from "../driver/world.ts";
import { hasPassed, runFile, testsIn } from "../driver/wpt.ts";

/** The little of a harness that the three files need. */
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
  "ai/language-model/language-model-iframe.tentative.https.window.js": "promise_test(async () => { throw new Error('left out'); }, 'left out');",
};

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("files of the suite's form are run against ours, and what fails says so", () =>
      inBrowser.run((world: World) =>
        withEcho(world, async () => {
          const checkout = join(world.harbor.dir, "wpt");
          for (const [file, text] of Object.entries(FILES)) {
            await mkdir(dirname(join(checkout, file)), { recursive: true });
            await writeFile(join(checkout, file), text);
          }
          const files = await testsIn(checkout);
          const results = [];
          for (const file of files) results.push(await runFile(world, checkout, file));
          assert.deepEqual(results.map((result) => [result.file.replace(/.*language-model-(\w+).*/, "$1"), hasPassed(result)]), [["create", true], ["prompt", true], ["wrong", false]], JSON.stringify(results));
          assert.deepEqual(results[2]?.tests, [{ name: "what is wrong is said to be", why: "available is not never" }]);
        }),
      ));
  });
}
