// Calls by which something may be destroyed: who is asked, how often, and what a no means.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallRequest } from "../shared/protocol/peer.ts";
import { Destroying, MOST_ASKED, destroying } from "./destroys.ts";
import type { Decision } from "./grants.ts";

const TOOLS = [
  { name: "wipe", annotations: { destructiveHint: true } },
  { name: "odd", annotations: { destructiveHint: true, readOnlyHint: true } },
  { name: "mild", annotations: { destructiveHint: false } },
  { name: "plain" },
  { name: 3, annotations: { destructiveHint: true } },
];
const CALL: CallRequest = { origin: "https://a.example", tab: 3, tool: "s/wipe", args: '{"all":true}', progress: false };
const SIGNAL = new AbortController().signal;
const YES: Decision = { allow: "once", tools: [] };
const NO: Decision = { allow: "no", remember: false };

/** A person who answers with these in turn, and a bridge that has one server. */
function world(answers: (Decision | Promise<Decision> | "refused")[], more: { supervision?: object; grants?: object[]; atHand?: object[] } = {}) {
  const asked: any[] = [];
  const seen: any[] = [];
  const grants = more.grants ?? [{ origin: CALL.origin, profile: "default", scope: "mcp:tools.call", grant_type: "ALLOW_ALWAYS", created_at: 0 }];
  const replies: { [type: string]: (fields: any) => object } = {
    list_servers: () => ({ servers: [{ server_id: "s", supervision: more.supervision ?? {} }] }),
    mcp_list_tools: ({ wait_ms }) => ({ tools: wait_ms === 0 ? (more.atHand ?? TOOLS) : TOOLS }),
    host_get_permissions: () => ({ grants }),
    host_note_consent: () => ({}),
  };
  const bridge = { request: async (type: string, fields: object) => (seen.push([type, fields]), replies[type]?.(fields)) };
  const confirm = async (view: object) => (asked.push(view), answers.shift() ?? NO);
  const made = new Destroying(bridge as never, { confirm } as never);
  const call = (tool: string) => made.agreed({ ...CALL, tool }, SIGNAL).then(() => "called", ({ code }) => code as string);
  return { asked, seen, call };
}

test("what a tool declares counts, and what the person says of it counts more", () => {
  const of = (supervision: object) => [...destroying(TOOLS, { supervision } as never)].sort();
  assert.deepEqual(of({}), ["wipe"]);
  assert.deepEqual(of({ destroys: ["plain", "odd"] }), ["odd", "plain", "wipe"]);
  assert.deepEqual([of({ writes: ["wipe"] }), of({ reads: ["wipe"] })], [[], []]);
  // Of several lists the worst counts.
  assert.deepEqual(of({ reads: ["wipe"], destroys: ["wipe"] }), ["wipe"]);
  for (const wrong of [undefined, {}, [null, "x"]]) assert.deepEqual([...destroying(wrong, { supervision: {} } as never)], []);
});

test("each such call is asked about, with its arguments, and no other", async () => {
  const { asked, seen, call } = world([YES, YES]);
  assert.deepEqual([await call("s/plain"), await call("s/mild"), await call("s/odd"), await call("none/wipe"), await call("browser/wipe")], Array(5).fill("called"));
  assert.deepEqual(asked, []);
  assert.deepEqual([await call("s/wipe"), await call("s/wipe")], ["called", "called"]);
  const view = { origin: CALL.origin, scopes: [], servers: [], named: false, call: { tool: "s/wipe", args: CALL.args, why: "this tool may destroy something" } };
  assert.deepEqual(asked, [view, view]);
  assert.deepEqual(seen.filter(([type]) => type === "host_note_consent").map(([, { outcome, tools }]) => [outcome, tools]), [["allowed", ["s/wipe"]], ["allowed", ["s/wipe"]]]);
});

test("a no ends its call and no other, until the person is asked no more for a while", async () => {
  const { asked, seen, call } = world([NO, YES, "refused"]);
  assert.deepEqual([await call("s/wipe"), await call("s/wipe"), await call("s/wipe")], ["ERR_PERMISSION_DENIED", "called", "ERR_PERMISSION_DENIED"]);
  assert.equal(asked.length, 3);
  const noted = seen.filter(([type]) => type === "host_note_consent").map(([, { outcome }]) => outcome);
  assert.deepEqual(noted, ["denied", "allowed"], "what nobody was shown has no answer");
});

test("nobody is asked for a site that may not use the tool", async () => {
  const { asked, call } = world([YES], { grants: [] });
  assert.deepEqual([await call("s/wipe"), asked], ["called", []]);
});

test("a server that has not said which tools it has is asked before it is called", async () => {
  const { asked, call } = world([NO], { atHand: [] });
  assert.deepEqual([await call("s/wipe"), asked.length], ["ERR_PERMISSION_DENIED", 1]);
});

test("only so many calls of a site wait for an answer", async () => {
  let answer: (decision: Decision) => void = () => undefined;
  const gate = new Promise<Decision>((resolve) => (answer = resolve));
  const { asked, call } = world(Array(MOST_ASKED + 1).fill(gate));
  const calls = Array.from({ length: MOST_ASKED + 1 }, () => call("s/wipe"));
  const ended = Promise.all(calls);
  assert.equal(await Promise.race(calls), "ERR_RATE_LIMITED");
  answer(YES);
  const results = await ended;
  assert.deepEqual([asked.length, results.filter((one) => one === "called").length], [MOST_ASKED, MOST_ASKED]);
});
