// The card of Harbor's own models: what it asks for, and what it never asks for.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallOptions } from "../../../shared/ports/caller.ts";
import type { SetupStatus } from "../../../shared/protocol/generated/messages.ts";
import { parseAllowed } from "../allowed.ts";
import { type Child, type VNode, textIn } from "../dom.ts";
import { Hands } from "../hands.ts";
import { type State, Store } from "../store.ts";
import { fetchModel, loadOwn, ownModels } from "./fetching.ts";
import { NO_PROVIDERS } from "./known.ts";

const GB = 1_000_000_000;
const OWN: SetupStatus = {
  available: true,
  downloadedModels: ["a.gguf", "b.gguf"],
  files: [
    { modelId: "a.gguf", bytes: GB, memory_bytes: 2 * GB },
    { modelId: "b.gguf", bytes: 9 * GB, memory_bytes: 12 * GB },
  ],
  engines: [{ provider: "a", file: "/h/models/a.gguf", state: "running" }],
  memory_bytes: 8 * GB,
};

function card() {
  const asked: [string, object][] = [];
  let tell: CallOptions = {};
  const state = { acts: {}, said: "", providers: NO_PROVIDERS };
  const store = new Store(state as unknown as State, () => undefined);
  const hands = new Hands(store, (type, fields, options) => {
    asked.push([type, fields]);
    if (type === "llm_setup_status") return Promise.resolve({ status: OWN });
    tell = options ?? {};
    return new Promise(() => undefined);
  });
  const shown = () => ownModels(hands).map(textIn).join("\n");
  return { hands, asked, shown, told: () => tell };
}

const settle = async () => {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

function buttons(within: Child[]): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(child.tag === "button" ? [child] : []), ...buttons(child.children)] : []));
}

test("a model is started, one that runs is stopped, and what does not fit is said", async () => {
  const { hands, asked, shown } = card();
  loadOwn(hands);
  await settle();
  assert.match(shown(), /a\.gguf.*1\.0 GB · runs.*Stop.*b\.gguf.*9\.0 GB · does not run.*Start.*more than is free.*8\.0 GB of memory are free/s);
  const press = (label: string) => buttons(ownModels(hands)).find(({ attributes }) => attributes["aria-label"] === label)?.on["click"]?.({} as Event);
  press("Stop a.gguf");
  press("Start b.gguf");
  assert.deepEqual(asked.slice(1), [
    ["llm_stop_local", { provider_id: "a" }],
    ["llm_start_local", { model_id: "b.gguf" }],
  ]);
});

test("how much has come is shown, and cancelling ends the request", async () => {
  const { hands, asked, shown, told } = card();
  loadOwn(hands);
  await settle();
  fetchModel(hands, "https://a.example/m.gguf", "ab");
  assert.deepEqual(asked.at(-1), ["llm_download_model", { model_id: "https://a.example/m.gguf", sha256: "ab", progress: true }]);
  told().onProgress?.({ progress: GB, total: 4 * GB });
  assert.match(shown(), /1\.0 GB of 4\.0 GB.*Cancel/s);
  hands.cancel("fetch model");
  assert.equal(told().signal?.aborted, true);
});

test("the panel names no program: a path is refused", () => {
  assert.doesNotThrow(() => parseAllowed("llm_start_local", { model_id: "a.gguf" }));
  for (const model_id of ["/bin/sh", "../a.gguf", ".pulls"]) assert.throws(() => parseAllowed("llm_start_local", { model_id }));
});
