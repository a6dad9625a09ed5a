// What is said of providers and models, and the way of a key: from its field into one request, and nowhere else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../../../shared/protocol/codes.ts";
import type { ChatSession, Model, ModelUsage, Provider } from "../../../shared/protocol/generated/messages.ts";
import { parseAllowed } from "../allowed.ts";
import { type Child, type VNode, textIn } from "../dom.ts";
import { Hands } from "../hands.ts";
import { type State, Store } from "../store.ts";
import { models as view } from "../views/models.ts";
import { withoutSwitches } from "./adding.ts";
import { NO_PROVIDERS } from "./known.ts";
import { byChat, limitWords, numbers } from "./usage.ts";
import { keyPageOf, marksOf, matching, placeWords, priceWords, standingOf, whereWords, whoWords } from "./words.ts";

const KEY = "sk-0123456789-only-you-know";

const PROVIDER: Provider = {
  ...{ id: "openai", type: "openai", name: "OpenAI", base_url: "https://api.openai.com/v1", dialect: "chat", enabled: true, available: true },
  ...{ is_local: false, is_default: true, is_type_default: true, needs_api_key: true, has_api_key: true, is_added: true },
};
const MODEL: Model = { id: "openai:gpt", provider: "openai", model: "gpt", is_local: false };

test("a provider stands as its last answer says, in words and in its own", () => {
  const of = (more: Partial<Provider>, checked?: Parameters<typeof standingOf>[1]) => standingOf({ ...PROVIDER, ...more }, checked);
  assert.deepEqual(of({}), { tone: "good", words: "Ready" });
  assert.deepEqual(of({ enabled: false, problem: "x" }).words, "Switched off");
  assert.deepEqual(of({ has_api_key: false }).words, "Needs a key");
  const refused = { available: false, latency_ms: 3, cause: "unauthorized", message: "no such key" };
  assert.deepEqual(of({ problem: "no such key" }, refused), { tone: "bad", words: "Does not take the key", said: "no such key" });
  assert.deepEqual(of({ problem: "a", needs_api_key: false, has_api_key: false }, refused).words, "Wants a key");
  assert.deepEqual(of({}, { available: true, latency_ms: 12 }), { tone: "good", words: "Answers, and takes the key (12 ms)" });
  // It has answered since it was checked, or refused.
  assert.equal(of({}, refused).tone, "good");
  assert.deepEqual(of({ problem: "gone" }, { available: true, latency_ms: 1 }), { tone: "bad", words: "Did not answer as it should", said: "gone" });
});

test("of a model is said where it runs, what its provider says that it can, and no price that nobody knows", () => {
  assert.deepEqual(marksOf(MODEL), []);
  assert.deepEqual(marksOf({ ...MODEL, context_window: 128_000, tools: false, vision: true, reasoning: true }), ["128k tokens", "no tools", "sees pictures", "thinks first"]);
  assert.deepEqual(marksOf({ ...MODEL, context_window: 512, tools: true, vision: false }), ["512 tokens", "tools", "no pictures"]);
  assert.deepEqual([priceWords(MODEL), placeWords(MODEL)], ["price unknown", "Leaves this machine"]);
  assert.equal(priceWords({ is_local: false, input_price: 2_500_000, output_price: 10_000_000 }), "$2.50 in, $10.00 out a million tokens");
  assert.deepEqual([priceWords({ is_local: true }), placeWords({ is_local: true })], ["free", "On this machine"]);
  assert.match(whereWords("openai", "OpenAI", true), /^Leaves this machine: OpenAI gets/);
  assert.match(whereWords("openai-compatible", "", false), /only if/);
});

test("models are found by all words of a search", () => {
  const list = ["openai:gpt-5-mini", "openai:gpt-5", "ollama:llama3.2"].map((id) => ({ ...MODEL, id }));
  assert.deepEqual(matching(list, " GPT  mini").map(({ id }) => id), ["openai:gpt-5-mini"]);
  assert.equal(matching(list, "").length, 3);
  assert.deepEqual(matching(list, "none"), []);
});

test("usage says who asked, what is an estimate, and what each may take", () => {
  const row = { requests: 1, input_tokens: 1_234, output_tokens: 0, cached_tokens: 0, reasoning_tokens: 0, exactness: "estimated", cost_microdollars: 4_200, unpriced_requests: 0 } as ModelUsage;
  assert.deepEqual(numbers(row), ["1", "about 1,234", "0", "$0.0042"]);
  assert.deepEqual(numbers({ ...row, exactness: "exact", unpriced_requests: 1 }), ["1", "1,234", "0", "unknown"]);
  assert.equal(numbers({ ...row, requests: 3, unpriced_requests: 1 })[3], "$0.0042 without 1");
  assert.deepEqual(["owner", "*", "https://a.example", "server:time"].map(whoWords), ["You", "Everybody together", "a.example", "time (a server)"]);
  const budgets = { list: [{ principal: "https://a.example", tokens_per_day: 7, is_set: true, used: 1, reserved: 0 }], ofAnOrigin: 50_000 };
  assert.deepEqual(["owner", "*", "https://a.example", "client://c"].map((one) => limitWords(one, budgets)), ["no limit", "no limit", "7", "50,000"]);
});

test("an address that takes a switch is not added, and the command is given", () => {
  const asked = { provider_type: "ollama", base_url: "http://192.168.1.20:11434", name: "my attic" };
  const typed = (message: string) => {
    const error = withoutSwitches(new CodedError("invalid_params", message), asked) as CodedError;
    return (Object(error.details) as { typed?: string }).typed;
  };
  assert.equal(typed("`base_url` must be an address that is not private, or the option `allow_private`"), "harbor models add ollama --name 'my attic' --url http://192.168.1.20:11434 --allow-private");
  assert.match(typed("over the network unencrypted") ?? "", /--allow-private$/);
  assert.match(typed("set `allow_other_user` (--allow-other-user)") ?? "", /--allow-other-user$/);
  assert.equal(typed("at most 64 providers"), undefined);
  assert.throws(() => parseAllowed("llm_configure_provider", { id: "a", enabled: false }));
  assert.deepEqual(parseAllowed("llm_add_provider", { provider_type: "ollama", allow_private: true, allow_other_user: true, api_key: KEY }).fields, { provider_type: "ollama" });
});

test("where keys are made is a page over https, and none that an object brings along", () => {
  for (const type of ["openai", "anthropic", "openrouter", "mistral", "groq", "deepseek", "gemini"]) assert.match(keyPageOf(type) ?? "", /^https:\/\//);
  assert.equal(keyPageOf("constructor"), undefined);
});

/** A panel with the view of models, all states that it has had, and what was asked with keys. */
function panel(list: Provider[], refuses: { [type: string]: CodedError } = {}) {
  const states: string[] = [];
  const asked: [string, object][] = [];
  const types = { local: [], remote: [{ type: "openai", name: "OpenAI", base_url: "https://api.openai.com/v1", dialect: "chat", needs_api_key: true }] };
  const replies: { [type: string]: object } = {
    llm_add_provider: { id: "openai", provider: PROVIDER },
    llm_check_provider: { available: false, latency_ms: 1, cause: "unauthorized", message: "no such key" },
    llm_list_providers: { providers: [{ ...PROVIDER, problem: "no such key" }] },
    llm_get_supported_providers: { ...types, configuredApiKeys: [] },
    llm_get_active: { status: "ready" },
    llm_list_models: { models: [], failed: [] },
    llm_set_api_key: { success: true, provider: "openai", available: true },
  };
  const state = { acts: {}, said: "", models: { list: [], chosen: undefined }, grants: [], providers: { ...NO_PROVIDERS, list, types } };
  const store: Store = new Store(state as unknown as State, () => states.push(JSON.stringify(store.state)));
  const hands = new Hands(store, async (type, fields) => {
    asked.push([type, fields]);
    if (refuses[type] !== undefined) throw refuses[type];
    return replies[type] ?? {};
  });
  return { hands, states, asked, shown: () => view.show(hands, { at: "models" }) };
}

function found(within: Child[], is: (node: VNode) => boolean): VNode[] {
  return within.flatMap((child) => (typeof child === "object" ? [...(is(child) ? [child] : []), ...found(child.children, is)] : []));
}

const settle = async () => {
  for (let at = 0; at < 20; at += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Sends a form in which this is typed. */
function send(form: VNode | undefined, typed: { [name: string]: string }) {
  const inputs = Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, { value }]));
  const event = { preventDefault: () => undefined, currentTarget: { elements: { namedItem: (name: string) => inputs[name] } } };
  form?.on["submit"]?.(event as unknown as Event);
  return inputs;
}

test("a key that is typed for a new provider is in one request, and never in the state", async () => {
  const { hands, states, asked, shown } = panel([]);
  const [form] = found(shown(), ({ tag }) => tag === "form");
  assert.deepEqual(found(shown(), ({ attributes }) => attributes["name"] === "key").map(({ attributes }) => attributes["type"]), ["password"]);
  const inputs = send(form, { key: KEY, url: "", name: "" });
  await settle();
  assert.equal(inputs["key"]?.value, "");
  assert.deepEqual(asked.filter(([, fields]) => JSON.stringify(fields).includes(KEY)), [["llm_set_api_key", { provider_id: "openai", api_key: KEY }]]);
  assert.ok(states.length > 3 && states.every((one) => !one.includes(KEY)));
  // The refusal is told in the provider's words.
  assert.match(shown().map(textIn).join("\n"), /Does not take the key.*OpenAI says: no such key/s);
  assert.equal(hands.state.providers.checks["openai"]?.cause, "unauthorized");
});

test("a key stays in its field while the address is refused, and is in no failure when it is refused itself", async () => {
  const first = panel([], { llm_add_provider: new CodedError("invalid_params", "no address") });
  const kept = send(found(first.shown(), ({ tag }) => tag === "form")[0], { key: KEY, url: "x", name: "" });
  await settle();
  assert.equal(kept["key"]?.value, KEY);
  assert.ok(first.states.every((one) => !one.includes(KEY)) && first.asked.every(([, fields]) => !JSON.stringify(fields).includes(KEY)));

  const second = panel([PROVIDER], { llm_set_api_key: new CodedError("secrets_locked", "locked") });
  const gone = send(found(second.shown(), ({ tag, key }) => tag === "form" && key === "key")[0], { key: KEY });
  assert.equal(gone["key"]?.value, "", "before there is an answer");
  await settle();
  assert.equal((second.hands.state.acts["key of openai"] as { code?: string }).code, "secrets_locked");
  assert.ok(second.states.every((one) => !one.includes(KEY)));
  // What is shown of it again is no value.
  assert.ok(found(second.shown(), ({ tag }) => tag === "input").every(({ initial }) => !String(initial.value ?? "").includes(KEY)));
});

test("what another user of this machine runs is not used by a click: who it is is said, with a command", () => {
  const { hands, shown } = panel([]);
  const here = { ...PROVIDER, id: "ollama", type: "ollama", name: "Ollama", base_url: "http://127.0.0.1:11434", is_added: false, needs_api_key: false };
  const list = [here, { ...here, base_url: "http://127.0.0.1:9931", other_user: "kim" }];
  hands.change({ providers: { ...hands.state.providers, found: { list, variables: [{ type: "openai", variable: "OPENAI_API_KEY" }] } } });
  assert.equal(found(shown(), ({ attributes }) => attributes["data-use"] !== undefined).length, 1);
  assert.match(shown().map(textIn).join("\n"), /The user kim of this machine runs it.*harbor models add ollama --url http:\/\/127.0.0.1:9931 --allow-other-user.*OPENAI_API_KEY/s);
});

test("usage by chat names the chats that took most, and says where a cost is not known", () => {
  const chat = (id: string, name: string, tokens: number | undefined, cost?: number) =>
    ({ id, name, usage: tokens === undefined ? undefined : { input_tokens: tokens, output_tokens: 1, cached_tokens: 0, reasoning_tokens: 0, exactness: "exact", cost_microdollars: cost } }) as ChatSession;
  const [table] = byChat([chat("a", "small", 1, 0), chat("b", "", 5_000), chat("c", "unused", undefined)]);
  assert.ok(table !== undefined);
  assert.match(textIn(table), /ChatInOutCost.*No name5,0001unknown.*small11free/s);
  assert.deepEqual(byChat([chat("c", "unused", undefined)]), []);
});
