// Notices about turns that end while no panel shows them, with a bridge that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { NativeClient } from "../shared/native/client.ts";
import { TurnNotices } from "./turn_notices.ts";

type Played = Pick<NativeClient, "request" | "watch" | "onState" | "onPush" | "state">;

const settle = () => new Promise((resolve) => setImmediate(resolve));

function played(turn: string | undefined) {
  const told: string[] = [];
  let [push, watchers] = [(_type: string, _fields: object) => {}, 0];
  const bridge = {
    state: { is: "ready" },
    request: async () => ({ turn_id: turn }),
    watch: () => ((watchers += 1), () => void (watchers -= 1)),
    onState: () => undefined,
    onPush: (listener: typeof push) => void (push = listener),
  } as unknown as Played;
  const notices = new TurnNotices(bridge, (session, end) => told.push(`${session} ${end}`));
  const happens = (turn_id: string, type: string, code = "done") => push("chat_event", { session_id: "s", turn_id, seq: 0, event: { type, code } });
  return { notices, told, happens, watchers: () => watchers };
}

test("a turn that ends while no panel shows it is told once, and keeps the connection until then", async () => {
  const { notices, told, happens, watchers } = played("t");
  await notices.left("s");
  assert.equal(watchers(), 1);
  happens("before", "final");
  happens("t", "text");
  assert.deepEqual(told, []);
  happens("t", "final");
  happens("t", "final");
  await settle();
  assert.deepEqual([told, watchers()], [["s answered"], 0]);
});

test("nothing is told where no turn is under way, where the person stopped it, or where a panel shows it again", async () => {
  const idle = played(undefined);
  await idle.notices.left("s");
  idle.happens("t", "final");
  assert.deepEqual([idle.told, idle.watchers()], [[], 0]);
  for (const end of ["stopped", "shown"]) {
    const { notices, told, happens, watchers } = played("t");
    await notices.left("s");
    if (end === "shown") notices.shown("s");
    happens("t", "final", end === "stopped" ? "stopped" : "done");
    await settle();
    assert.deepEqual([told, watchers()], [[], 0], end);
  }
});
