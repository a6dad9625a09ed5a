// The page beside the panel, the mark on the button, and what was done.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grant } from "../../shared/protocol/generated/messages.ts";
import { Badge } from "../badge.ts";
import { parseSite } from "../beside.ts";
import { activitiesOf, activityOf, callsSince, whoWords } from "./activity.ts";
import { parseTokens, shareOf, shareWords, usesModels } from "./budget.ts";
import { accessBy, accessOf, accessWords, grantsOf, shortWords } from "./site.ts";

const SITE = { origin: "https://a.example", tab: 3 };
const grant = (more: object = {}) => ({ origin: SITE.origin, profile: "default", scope: "mcp:tools.call", grant_type: "ALLOW_ONCE", created_at: 0, ...more }) as Grant;
const SERVERS = [{ server_id: "a", tool_count: 4 }, { server_id: "b", tool_count: 13 }, { server_id: "c" }];
const words = (...grants: Grant[]) => accessWords(accessOf(SITE, grants, SERVERS), 1_000);

test("the first row says what the page may do now, and how long", () => {
  const ends = 1_000 + 8 * 60_000;
  assert.equal(words(), "No access to your tools");
  assert.equal(words(grant({ tab_id: 3, allowed_tools: ["a/*", "b/*"], expires_at: ends })), "May use 17 tools, 8 min left");
  assert.equal(words(grant({ grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/*", "a/x", "b/y"] })), "May use 5 tools");
  assert.equal(words(grant({ allowed_tools: ["b/y"], expires_at: 1_500 })), "May use 1 tool, less than 1 min left");
  assert.equal(words(grant({ expires_at: 1_000 + 60_000 })), "May use your tools, 1 min left");
  assert.equal(words(grant({ scope: "mcp:tools.list", grant_type: "ALLOW_ALWAYS" })), "May see which tools you have");
  assert.equal(words(grant({ allowed_tools: ["a/x"], expires_at: ends }), grant({ grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/y"] })), "May use 2 tools");
});

test("a row of the list says the same in a few words", () => {
  const short = (...grants: Grant[]) => shortWords(accessBy(grants, SERVERS), 1_000);
  const model = grant({ scope: "model:prompt", grant_type: "ALLOW_ALWAYS" });
  assert.deepEqual([short(), short(grant({ grant_type: "DENY" })), short(grant({ allowed_tools: ["a/*"], expires_at: 121_000 }))], ["no access", "blocked", "4 tools, 2 min left"]);
  assert.deepEqual([short(model), short(model, grant({ grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/x"] }))], ["your model", "1 tool and your model"]);
  assert.deepEqual([short(grant({ grant_type: "ALLOW_ALWAYS" })), short(grant({ allowed_tools: ["*"] })), short(grant({ allowed_tools: ["c/*"] }))], ["all tools", "all tools", "your tools"]);
});

test("a model is said beside the tools, and what it may use", () => {
  const model = grant({ scope: "model:prompt", grant_type: "ALLOW_ALWAYS" });
  assert.equal(words(model), "May use your language model");
  assert.equal(words(model, grant({ grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/*"] })), "May use 4 tools and your language model");
  const budgets = { list: [{ principal: SITE.origin, tokens_per_day: 5_000, is_set: true, used: 1_234, reserved: 0 }], ofAnOrigin: 50_000 };
  assert.equal(shareWords(shareOf(SITE.origin, budgets)), "1,234 tokens used today, of 5,000");
  assert.equal(shareWords(shareOf("https://b.example", budgets)), "0 tokens used today, of 50,000");
  assert.ok(usesModels([model], shareOf("https://b.example", budgets)) && !usesModels([grant()], shareOf("https://b.example", budgets)));
  assert.deepEqual(["50,000", " 7 ", "0", "-1", "1e3", "", "9".repeat(20)].map(parseTokens), [50_000, 7, 0, undefined, undefined, undefined, undefined]);
  const line = { timestamp: 1, event: "chat", origin: SITE.origin, model: "m", input_tokens: 3, output_tokens: 4 };
  assert.deepEqual(activityOf(line), { at: 1, origin: SITE.origin, what: "Asked the model m", isTool: false, isCall: false, tone: "good", ended: "answered, 7 tokens" });
});

test("what is of another tab, page or profile does not count, and a denial holds over the rest", () => {
  const inContainer = { ...SITE, profile: "container:x" };
  assert.deepEqual([grantsOf(inContainer, [grant()]).length, grantsOf(inContainer, [grant({ profile: "container:x" })]).length], [0, 1]);
  for (const other of [{ tab_id: 4 }, { origin: "https://b.example" }, { profile: "work" }]) assert.equal(words(grant(other)), "No access to your tools");
  assert.equal(words(grant(), grant({ grant_type: "DENY" })), "Blocked: it can't ask for your tools");
});

test("what another extension says of a page is read with care", () => {
  assert.deepEqual(parseSite({ site: SITE }), SITE);
  assert.deepEqual(parseSite({ site: { ...SITE, profile: "container:firefox-container-2" } }), { ...SITE, profile: "container:firefox-container-2" });
  for (const wrong of [undefined, null, {}, { site: { origin: "file://", tab: 1 } }, { site: { origin: SITE.origin, tab: "3" } }, { site: { ...SITE, profile: "default" } }]) assert.equal(parseSite(wrong), undefined);
});

test("the button is marked while the page that is shown has access, and nobody is asked while nothing is granted", async () => {
  const kept = new Map<string, unknown>();
  const store = { get: async (key: string) => kept.get(key), set: async (key: string, value: unknown) => void kept.set(key, value) };
  const [marks, asked]: [[number, string | null][], number[]] = [[], []];
  const siteIn = async (windowId: number) => (asked.push(windowId), SITE);
  const all: string[] = [];
  const badge = () => new Badge({ siteIn, store, mark: async (tab, text) => void marks.push([tab, text]), markAll: async (text) => void all.push(text) });
  await badge().shown(1, 3);
  assert.deepEqual([marks, asked], [[], []]);
  // As after a restart of the background.
  await badge().granted([grant({ tab_id: 3 })]);
  await badge().shown(1, 9);
  await badge().shown(1, 3);
  await badge().granted([]);
  assert.deepEqual(marks, [[3, "on"], [9, null], [3, "on"], [3, null]]);
  // Questions that wait are marked in all tabs, and before what a page may do.
  marks.length = all.length = 0;
  const last = badge();
  await last.granted([grant({ tab_id: 3 })]);
  for (const many of [2, 2, 0]) await last.waiting(many);
  assert.deepEqual([marks, all], [[[3, "on"], [3, null], [3, "on"]], ["", "2", ""]]);
});

const call = (more: object = {}) => ({ timestamp: 5, event: "call", by: "extension:x", origin: SITE.origin, server: "time", tool: "now", decision: "allowed", duration_ms: 30.2, ...more });
const ended = (line: object) => activityOf({ ...line })?.ended;

test("a line of the log says who called what, and how it ended", () => {
  assert.deepEqual(activityOf(call()), { at: 5, origin: SITE.origin, what: "time/now", isTool: true, isCall: true, tone: "good", ended: "answered in 30 ms" });
  const failed = activityOf(call({ tool_error: true }));
  assert.deepEqual([failed?.tone, failed?.ended], ["bad", "the tool reported an error after 30 ms"]);
  // Only what is said counts, and a refusal is no answer of the tool.
  for (const told of [false, "true", 1, undefined]) assert.equal(ended(call({ tool_error: told })), "answered in 30 ms");
  assert.equal(ended(call({ tool_error: true, decision: "denied", code: "ERR_RATE_LIMITED" })), "refused: too many calls");
  assert.equal(ended(call({ code: "ERR_TOOL_TIMEOUT" })), "timed out");
  assert.equal(ended(call({ code: "ERR_OF_A_NEWER_BRIDGE" })), "failed (ERR_OF_A_NEWER_BRIDGE)");
  assert.equal(ended(call({ decision: "denied", code: "ERR_RATE_LIMITED" })), "refused: too many calls");
  assert.equal(ended({ timestamp: 5, event: "refused", code: "ERR_SCOPE_REQUIRED", count: 4 }), "refused: not allowed, 4 times");
  const consent = (outcome: string) => activityOf({ timestamp: 5, event: "consent", outcome, origin: SITE.origin, asked_tools: ["w/a", "w/b"] });
  assert.deepEqual(consent("dismissed"), { at: 5, origin: SITE.origin, what: "Asked for 2 tools", isTool: false, isCall: false, tone: "idle", ended: "you closed the question" });
  const asked = (...asked_tools: string[]) => activityOf({ timestamp: 5, event: "consent", origin: SITE.origin, outcome: "allowed", asked_tools })?.what;
  assert.equal(asked("browser:activeTab.read"), "Asked for “Read its own page”");
  assert.equal(asked("mcp:server.connect", "a/x", "a/y"), "Asked for “Start servers of its tools” and 2 tools");
  assert.equal(asked("browser:activeTab.read", "browser:activeTab.interact", "browser:navigate", "model:prompt"), "Asked for 3 permissions and your language model");
  assert.deepEqual([consent("denied")?.ended, consent("allowed")?.ended], ["you didn't allow it", "you allowed it"]);
  assert.equal(ended({ timestamp: 5, event: "grant", grant_type: "ALLOW_ALWAYS", allowed_tools: ["w/*"] }), "all tools of w, always");
  assert.equal(activityOf({ timestamp: 5, event: "approvals_revoke" })?.what, "Answers about calls revoked");
});

test("a grant of nothing is not told as one of tools", () => {
  const told = (scope: string, more: object = {}) => {
    const read = activityOf({ timestamp: 5, event: "grant", scope, grant_type: "ALLOW_ALWAYS", ...more });
    return [read?.what, read?.ended];
  };
  assert.deepEqual(told("mcp:tools.call"), ["Allowed to use tools", "all tools, always"]);
  assert.deepEqual(told("mcp:tools.call", { allowed_tools: [] }), ["Allowed to use no tools", "always"]);
  assert.deepEqual(told("mcp:tools.list", { allowed_tools: ["a/x"] }), ["Allowed to see tools", "a/x, always"]);
  assert.deepEqual(told("agents:remote"), ["Allowed: agents:remote", "always, and gives nothing"]);
  assert.deepEqual(told("agents:remote", { grant_type: "DENY" }), ["Blocked: agents:remote", "until you unblock it"]);
  assert.deepEqual(told("browser:activeTab.read"), ["Allowed: Read its own page", "always"]);
  assert.deepEqual(told("mcp:server.connect", { grant_type: "DENY" }), ["Blocked: Start servers of its tools", "until you unblock it"]);
  assert.deepEqual(told("model:prompt"), ["Allowed to use your language model", "always"]);
});

test("the newest come first, what is no activity is left out, and only calls are counted", () => {
  const lines = [call(), { timestamp: 6, event: "expire", origin: SITE.origin }, { timestamp: 7, event: "unaudited" }, null, 1, { event: "call" }];
  const list = activitiesOf(lines);
  assert.deepEqual(list.map(({ at }) => at), [6, 5]);
  assert.deepEqual(activitiesOf("x"), []);
  assert.deepEqual([callsSince(list, SITE.origin, 5), callsSince(list, SITE.origin, 6), callsSince(list, "https://b.example", 0)], [1, 0, 0]);
  assert.deepEqual([whoWords({}), whoWords({ origin: "client://claude-code" }), whoWords(SITE)], ["You", "claude-code", "a.example"]);
});
