// What a page learns of models, by what the bridge says and what the person has allowed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../shared/protocol/codes.ts";
import { activeProvider, modelState, prompt, providers } from "./page_models.ts";

const ASKER = { origin: "https://a.example", tab: 3 };
const ACTIVE = { active: "p", model: "m", status: "ready" };
const signal = new AbortController().signal;
const CONTEXT = { signal, progress: () => undefined, chunk: () => undefined, onMore: () => undefined };

/** A bridge that answers so; what it was asked. */
function bridge(answers: { [type: string]: unknown }) {
  const asked: [string, any][] = [];
  const request = async (type: string, fields: unknown) => {
    asked.push([type, fields]);
    if (answers[type] instanceof Error) throw answers[type];
    return answers[type];
  };
  return { asked, played: { request } as never };
}

const grants = (...types: string[]) => ({ grants: types.map((grant_type) => ({ scope: "model:prompt", grant_type })) });

test("the four words are made of a model, a grant and an open question", async () => {
  const list = { models: [{ model: "n", context_window: 1 }, { model: "m", context_window: 9, vision: false }] };
  const state = (active: object, has: object, isAsking = false, config = "", mayAsk = true) =>
    modelState(bridge({ llm_get_active: active, host_get_permissions: has, llm_list_models_for: list, llm_list_providers: { providers: [] }, get_config: { config } }).played, ASKER, { isAsking, mayAsk });
  assert.deepEqual(await state({ status: "no_provider" }, grants()), { state: "unavailable" });
  for (const status of ["disabled", "no_key"]) assert.deepEqual(await state({ ...ACTIVE, status }, grants("ALLOW_ALWAYS")), { state: "unavailable" });
  assert.deepEqual(await state(ACTIVE, grants()), { state: "downloadable" });
  assert.deepEqual(await state(ACTIVE, grants(), true), { state: "downloading" });
  assert.deepEqual(await state(ACTIVE, grants(), false, "", false), { state: "unavailable", denied: true }, "a click would be refused");
  assert.deepEqual(await state(ACTIVE, grants("ALLOW_ONCE", "DENY")), { state: "unavailable", denied: true });
  assert.deepEqual(await state(ACTIVE, grants("ALLOW_ALWAYS"), false, "[pages]\ntextGeneration = false\n"), { state: "unavailable" });
  assert.deepEqual(await state(ACTIVE, grants("ALLOW_ONCE"), false, "[pages]\nagentRuns = false\n"), { state: "available", window: 9, vision: false });
});

test("a provider that does not say how much its model looks at holds up nothing", async () => {
  const { played } = bridge({ llm_get_active: ACTIVE, host_get_permissions: grants("ALLOW_ALWAYS"), get_config: { config: "" }, llm_list_providers: { providers: [] }, llm_list_models_for: new CodedError("ERR_MODEL_FAILED", "no") });
  assert.deepEqual(await modelState(played, ASKER, { isAsking: false, mayAsk: true }), { state: "available" });
});

test("of a prompt only what belongs to it goes on, and only the answer comes back", async () => {
  const { asked, played } = bridge({ host_llm_chat: { response: "said", provider: "p", model: "m" } });
  const body = JSON.stringify({ messages: [], temperature: 1, origin: "https://bank.example", max_tokens: 1e9, stream: true });
  assert.equal(await prompt(played, { ...ASKER, body, stream: false }, CONTEXT, () => () => undefined), "said");
  assert.deepEqual(asked, [["host_llm_chat", { messages: [], temperature: 1, origin: ASKER.origin, tab_id: 3 }]]);
  await assert.rejects(prompt(played, { ...ASKER, body: "[]", stream: false }, CONTEXT, () => () => undefined), { code: "ERR_INVALID_REQUEST" });
});

test("who names a model has to know of it, and learns of no other", async () => {
  const body = JSON.stringify({ messages: [], provider: "q" });
  const refused = bridge({ host_check_permission: { granted: false, code: "ERR_SCOPE_REQUIRED", message: "model:list" } });
  await assert.rejects(prompt(refused.played, { ...ASKER, body, stream: false }, CONTEXT, () => () => undefined), { code: "ERR_SCOPE_REQUIRED" });
  assert.deepEqual(refused.asked.map(([type]) => type), ["host_check_permission"]);
  const unknown = bridge({ host_check_permission: { granted: true }, host_llm_chat: new CodedError("not_found", "did you mean secret-provider?") });
  const failed = (await prompt(unknown.played, { ...ASKER, body, stream: false }, CONTEXT, () => () => undefined).catch((error) => error)) as CodedError;
  assert.deepEqual([failed.code, failed.message], ["ERR_MODEL_FAILED", "there is no such provider"]);
});

test("the names of providers take their scope", async () => {
  const { asked, played } = bridge({ host_check_permission: { granted: false } });
  await assert.rejects(activeProvider(played, ASKER), { code: "ERR_SCOPE_REQUIRED" });
  assert.deepEqual(asked.map(([, { scope }]) => scope), ["model:list"]);
  const provider = { id: "p", type: "openai", name: "P", base_url: "https://secret.example", available: true, is_default: true, is_type_default: false, has_api_key: true };
  const listed = bridge({
    host_llm_list_models: { models: [{ provider: "p", model: "m", tools: true }] },
    llm_list_providers: { providers: [{ ...provider, enabled: true }, { ...provider, id: "off", enabled: false }] },
  });
  const found = await providers(listed.played, ASKER, signal);
  assert.deepEqual(found, [{ id: "p", type: "openai", name: "P", available: true, isDefault: true, isTypeDefault: false, models: ["m"], supportsTools: true }]);
});
