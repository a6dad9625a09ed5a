// Values of secret fields, in what the documents of a tab say; some of them in a browser that is made up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Documents } from "./documents.ts";
import { Numbers } from "./numbers.ts";
import type { Command } from "./page/commands.ts";
import { Secrets } from "./secrets.ts";
import { Snapshots } from "./snapshots.ts";

const [TAB, OTHER, FRAME] = [7, 8, 3];

test("what a document has in such a field is in nothing that the tab's documents say, until it has gone", () => {
  const secrets = new Secrets();
  secrets.note(TAB, 0, ["correct horse"]);
  secrets.note(TAB, FRAME, ["battery staple"]);
  const said = { lines: [{ depth: 1, text: "correct horse battery staple" }], is: true };
  const told = (text: string, tabs = [TAB]) => assert.deepEqual(secrets.without(tabs, said), { lines: [{ depth: 1, text }], is: true });
  told("(not shown) (not shown)", [OTHER, TAB]);
  told("correct horse battery staple", [OTHER]);
  secrets.left(TAB, FRAME);
  told("(not shown) battery staple");
  secrets.note(TAB, FRAME, ["battery staple"]);
  secrets.left(TAB, 0);
  told("correct horse battery staple");
});

test("however many frames a page makes, its own document is not forgotten", () => {
  const secrets = new Secrets();
  for (let frame = 0; frame < 200; frame += 1) secrets.note(TAB, frame, [`value of ${frame}.`]);
  assert.equal(secrets.without([TAB], "value of 0., value of 199., value of 99."), "(not shown), (not shown), value of 99.");
});

/** A browser with one tab, whose page shows what a frame has in such a field. */
function browserWithFrame(): Documents {
  const url = "https://a.example/";
  const frames = [{ frameId: 0, parentFrameId: -1, url }, { frameId: FRAME, parentFrameId: 0, url }];
  const executeScript = async ({ target, args }: { target: { frameIds: [number] }; args: [{ command: Command } | null] }) => {
    const [frameId] = target.frameIds;
    if (args[0] === null) return [{ result: true }];
    const answer = { generation: frameId + 1, notes: [], secrets: frameId === 0 ? [] : ["battery staple"] };
    const lines = frameId === 0 ? [{ depth: 0, text: "given: battery staple" }, { depth: 0, text: "iframe", frame: 0 }] : [];
    return [{ result: { ...answer, reply: { lines, path: frameId === 0 ? [] : [0] } } }];
  };
  Object.assign(globalThis, { chrome: { scripting: { executeScript }, webNavigation: { getAllFrames: async () => frames } } });
  const leaves = () => ({ gone: new Promise<void>(() => undefined), stop: () => undefined });
  return new Documents({ leaves, tell: () => undefined, allowed: async () => "https://a.example", may: async () => true }, new Numbers({ get: async () => 0, set: async () => undefined }));
}

const may = async () => true;

test("what a frame has is in no snapshot of a tab that was begun before that was known", async () => {
  const lines = await new Snapshots(browserWithFrame()).take(TAB, { filter: "all" }, may);
  assert.deepEqual(lines.map(({ text }) => text), ["given: (not shown)", "iframe"]);
});

test("what a frame has is in no reply of the page once it was asked", async () => {
  const documents = browserWithFrame();
  await documents.noteSecrets(TAB, may);
  const { lines } = await documents.run(TAB, 0, "hover", { target: "f1e1" });
  assert.deepEqual(lines[0], { depth: 0, text: "given: (not shown)" });
});
