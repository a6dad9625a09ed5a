// Notices about turns that end while no panel shows them, with a bridge that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NativeClient } from "../shared/native/client.ts";
import { TurnNotices } from "./turn_notices.ts";

type Played = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state">;

function played() {
  const told: string[] = [];
  const unfollowed: unknown[] = [];
  let [push, watchers] = [(_type: string, _fields: object) => {}, 0];
  const bridge = {
    state: { is: "ready" },
    request: async (_type: string, fields: object) => void unfollowed.push(fields),
    watch: () => ((watchers += 1), () => void (watchers -= 1)),
    onState: () => undefined,
    onPush: (listener: typeof push) => void (push = listener),
  } as unknown as Played;
  const notices = new TurnNotices(bridge, (session, end) => told.push(`${session} ${end}`));
  const happens = (type: string, code = "done") => push("chat_event", { session_id: "s", turn_id: "t", seq: 0, event: { type, code } });
  return { notices, told, happens, watchers: () => watchers, unfollowed };
}

test("a turn that ends while no panel shows it is told once, and keeps the connection until then", () => {
  const { notices, told, happens, watchers, unfollowed } = played();
  happens("text");
  notices.left("s");
  happens("text");
  assert.deepEqual([told, watchers(), unfollowed], [[], 1, []]);
  happens("final");
  happens("final");
  assert.deepEqual([told, watchers(), unfollowed.length], [["s answered"], 0, 1]);
});

test("nothing is told where no turn is under way, where the person stopped it, or where a panel shows it again", () => {
  const idle = played();
  idle.happens("text");
  idle.happens("final");
  idle.notices.left("s");
  assert.deepEqual([idle.told, idle.watchers(), idle.unfollowed.length], [[], 0, 1]);
  for (const end of ["stopped", "shown"]) {
    const { notices, told, happens, watchers } = played();
    happens("text");
    notices.left("s");
    if (end === "shown") notices.shown("s");
    happens("final", end === "stopped" ? "stopped" : "done");
    assert.deepEqual([told, watchers()], [[], 0], end);
  }
});
