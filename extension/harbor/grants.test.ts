// What grants mean to a page, and what an answer makes of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Grant } from "../shared/protocol/generated/messages.ts";
import { type PermissionsRequest, SCOPES, type Scope } from "../shared/protocol/peer.ts";
import { grantsFor, isAllowedForGood, isCovered, isSettled, revocationsFor, viewOf } from "./grants.ts";

const A = "https://a.example";
const LIST = "mcp:tools.list";
const CALL = "mcp:tools.call";
const NOTHING = Object.fromEntries(SCOPES.map((scope) => [scope, "not-granted"])) as { [scope in Scope]: "not-granted" };
const grant = (scope: string, grant_type: string, allowed_tools?: string[], tab_id?: number): Grant => ({
  origin: A,
  profile: "default",
  scope,
  grant_type,
  created_at: 1,
  ...(allowed_tools === undefined ? {} : { allowed_tools }),
  ...(tab_id === undefined ? {} : { tab_id }),
});
const wish = (scopes: Scope[], tools?: string[]): PermissionsRequest => ({
  origin: A,
  tab: 3,
  document: "D",
  gesture: 1,
  scopes,
  ...(tools === undefined ? {} : { tools }),
});

test("a page learns the strongest word for each scope", () => {
  assert.deepEqual(viewOf(A, []), { origin: A, scopes: { ...NOTHING, [LIST]: "not-granted", [CALL]: "not-granted" } });
  const grants = [grant(LIST, "ALLOW_ONCE"), grant(LIST, "ALLOW_ALWAYS"), grant(CALL, "ALLOW_ALWAYS", ["a/b"]), grant(CALL, "ALLOW_ONCE", ["c/*"])];
  assert.deepEqual(viewOf(A, grants), { origin: A, scopes: { ...NOTHING, [LIST]: "granted-always", [CALL]: "granted-always" }, allowedTools: ["a/b", "c/*"] });
  assert.equal(viewOf(A, [...grants, grant(CALL, "DENY")]).scopes[CALL], "denied");
  assert.equal(viewOf(A, [grant(CALL, "ALLOW_ONCE"), grant(CALL, "ALLOW_ALWAYS", ["a/b"])]).allowedTools, undefined);
});

test("what is allowed is not asked again, what is more is", () => {
  const grants = [grant(LIST, "ALLOW_ALWAYS", ["a/*"]), grant(CALL, "ALLOW_ONCE", ["a/x"])];
  assert.ok(isCovered(wish([LIST], ["a/anything"]), grants));
  assert.ok(isCovered(wish([CALL], ["a/x"]), grants));
  assert.ok(!isCovered(wish([CALL], ["a/y"]), grants));
  assert.ok(!isCovered(wish([CALL], ["ab/x"]), grants));
  assert.ok(!isCovered(wish([LIST, CALL]), []));
});

test("what starts servers is granted with the tools that the person ticks, or where it was asked for alone", () => {
  const made = (scopes: Scope[], tools: string[]) => grantsFor(wish(scopes), { allow: "always", tools }, []).map(({ scope, allowed_tools }) => [scope, allowed_tools]);
  assert.deepEqual(made([CALL, "mcp:server.connect"], ["a/x"]), [[CALL, ["a/x"]], ["mcp:server.connect", undefined]]);
  assert.deepEqual(made([CALL, "mcp:server.connect"], []), []);
  assert.deepEqual(made(["mcp:server.connect"], []), [["mcp:server.connect", undefined]]);
});

test("who names no tools wants those of all servers, also of one that was added since", () => {
  const grants = [grant(LIST, "ALLOW_ALWAYS", ["a/*"]), grant(LIST, "ALLOW_ONCE", ["b/*"])];
  assert.ok(isCovered(wish([LIST]), grants, ["a/*", "b/*"]) && isSettled(wish([LIST]), grants, []));
  assert.ok(!isCovered(wish([LIST]), grants, ["a/*", "c/*"]) && !isSettled(wish([LIST]), grants, ["c/*"]));
  assert.ok(isCovered(wish([LIST], ["a/x"]), grants, ["c/*"]), "who names some wants no more");
  assert.ok(isCovered(wish([LIST]), [grant(LIST, "ALLOW_ALWAYS")], ["c/*"]));
  assert.ok(!isCovered(wish([LIST]), [grant(LIST, "ALLOW_ALWAYS", ["a/x"])], ["a/*"]));
});

test("a question has nothing to add only for what is always allowed, in all its scopes", () => {
  const grants = [grant(LIST, "ALLOW_ALWAYS", ["a/*"]), grant(CALL, "ALLOW_ALWAYS", ["a/x"]), grant(CALL, "ALLOW_ONCE", ["a/y"], 3)];
  const added = (scopes: Scope[], tool: string) => !isAllowedForGood(scopes, tool, grants);
  assert.deepEqual([added([LIST], "a/*"), added([CALL], "a/*"), added([LIST, CALL], "a/x"), added([CALL], "a/y")], [false, true, false, true]);
});

test("what is denied for good is not asked again either, and not covered", () => {
  const grants = [grant(CALL, "DENY"), grant(CALL, "ALLOW_ALWAYS")];
  assert.ok(isSettled(wish([CALL]), grants) && !isCovered(wish([CALL]), grants));
});

test("once is for the tab, always is not, no is remembered only if the person says so", () => {
  assert.deepEqual(grantsFor(wish([CALL]), { allow: "once", tools: ["a/b"] }, []), [
    { origin: A, scope: CALL, grant_type: "ALLOW_ONCE", tab_id: 3, allowed_tools: ["a/b"] },
  ]);
  assert.deepEqual(grantsFor(wish([LIST, CALL]), { allow: "always", tools: ["a/b"] }, []), [
    { origin: A, scope: LIST, grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/b"] },
    { origin: A, scope: CALL, grant_type: "ALLOW_ALWAYS", allowed_tools: ["a/b"] },
  ]);
  assert.deepEqual(grantsFor(wish([CALL]), { allow: "no", remember: false }, []), []);
  assert.deepEqual(grantsFor(wish([CALL]), { allow: "no", remember: true }, []), [{ origin: A, scope: CALL, grant_type: "DENY" }]);
});

test("a denial for good takes back what was allowed, another one nothing", () => {
  assert.deepEqual(revocationsFor(wish([CALL]), { allow: "no", remember: true }), [
    { origin: A, scope: CALL, grant_type: "ALLOW_ALWAYS" },
    { origin: A, scope: CALL, grant_type: "ALLOW_ONCE" },
  ]);
  assert.deepEqual(revocationsFor(wish([CALL]), { allow: "no", remember: false }), []);
  assert.deepEqual(revocationsFor(wish([CALL]), { allow: "once", tools: [] }), []);
});

test("what was allowed in the same way stays allowed; what is of another tab does not count", () => {
  const tools = (before: Grant[], allow: "once" | "always") => grantsFor(wish([CALL]), { allow, tools: ["n/n"] }, before)[0]?.allowed_tools;
  assert.deepEqual(tools([grant(CALL, "ALLOW_ALWAYS", ["a/b"])], "always"), ["a/b", "n/n"]);
  assert.deepEqual(tools([grant(CALL, "ALLOW_ALWAYS", ["a/b"])], "once"), ["n/n"]);
  assert.deepEqual(tools([grant(CALL, "ALLOW_ONCE", ["a/b"], 3), grant(CALL, "ALLOW_ONCE", ["c/d"], 4)], "once"), ["a/b", "n/n"]);
  assert.equal(tools([grant(CALL, "ALLOW_ALWAYS")], "always"), undefined);
});

test("what is of models has no tools, and is allowed also where no tool is ticked", () => {
  const asked = wish(["model:prompt", "model:tools", CALL], ["a/x"]);
  const made = (tools: string[]) => grantsFor(asked, { allow: "always", tools }, []).map(({ scope, allowed_tools }) => [scope, allowed_tools]);
  assert.deepEqual(made(["a/x"]), [["model:prompt", undefined], ["model:tools", undefined], [CALL, ["a/x"]]]);
  assert.deepEqual(made([]), [["model:prompt", undefined], ["model:tools", undefined]]);
  const grants = [grant("model:prompt", "ALLOW_ALWAYS"), grant("model:tools", "ALLOW_ALWAYS"), grant(CALL, "ALLOW_ALWAYS", ["a/x"])];
  assert.ok(isCovered(asked, grants) && !isCovered(asked, grants.slice(1)));
  assert.ok(isCovered(wish(["model:prompt"]), grants, ["b/*"]), "servers that are added change nothing about models");
});
