// One question at a time, and none that nobody wanted.

import assert from "node:assert/strict";
import { test } from "node:test";
import { COOLDOWN_MS, type Event, MOST_DENIALS, MOST_OPEN, MOST_WAITING, START, type State, confirmed, mayAsk, mayConfirm, memoryOf, recalled, step } from "./questions.ts";

const A = "https://a.example";

/** Plays events one after the other, `now` first; what was done. */
function play(events: [number, Event][]): { done: string[]; state: State } {
  let state = START;
  const done: string[] = [];
  for (const [now, event] of events) {
    const taken = step(state, event, now);
    state = taken.state;
    done.push(...taken.actions.map((action) => (action.do === "show" ? `show ${action.id}` : `${action.code} ${action.id}`)));
  }
  return { done, state };
}

const ask = (id: number, origin = A, document = "D", gesture = id + 1): Event => ({ is: "asked", question: { id, origin, document }, gesture });
const end = (id: number, outcome: "allowed" | "denied" | "withdrawn" | "failed"): Event => ({ is: "ended", id, outcome });

test("one question of an origin at a time; the next one comes when it has ended", () => {
  const { done } = play([[0, ask(1)], [0, ask(2)], [0, ask(3, "https://b.example")], [1, end(1, "allowed")], [2, end(2, "failed")]]);
  assert.deepEqual(done, ["show 1", "show 3", "show 2"]);
});

test("a question that was taken back while it waited is never shown", () => {
  assert.deepEqual(play([[0, ask(1)], [0, ask(2)], [1, end(2, "withdrawn")], [2, end(1, "allowed")]]).done, ["show 1"]);
});

test("without a gesture none is asked", () => {
  assert.deepEqual(play([[0, ask(1, A, "D", 0)]]).done, ["ERR_USER_GESTURE_REQUIRED 1"]);
});

test("a denial refuses what waits, and what comes within ten seconds", () => {
  const { done } = play([[0, ask(1)], [0, ask(2)], [5, end(1, "denied")], [6, ask(3)], [4 + COOLDOWN_MS, ask(4)], [5 + COOLDOWN_MS, ask(5)]]);
  assert.deepEqual(done, ["show 1", "ERR_PERMISSION_DENIED 2", "ERR_PERMISSION_DENIED 3", "ERR_PERMISSION_DENIED 4", "show 5"]);
});

test("a question that its page takes back counts as a denial, whoever waits; one that failed does not", () => {
  const back: [number, Event][] = [[0, ask(1)], [0, ask(2)], [5, end(1, "withdrawn")], [6, ask(3)], [5 + COOLDOWN_MS, ask(4)]];
  assert.deepEqual(play(back).done, ["show 1", "ERR_PERMISSION_DENIED 2", "ERR_PERMISSION_DENIED 3", "show 4"]);
  const three: [number, Event][] = (["withdrawn", "denied", "withdrawn"] as const).flatMap((outcome, at) => [
    [at * 100_000, ask(at)],
    [at * 100_000 + 1, end(at, outcome)],
  ]);
  assert.deepEqual(play([...three, [900_000, ask(4)], [900_001, ask(5, A, "reloaded")]]).done.slice(3), ["ERR_PERMISSION_DENIED 4", "show 5"]);
  assert.deepEqual(play([[0, ask(1)], [1, end(1, "failed")], [2, ask(2)]]).done, ["show 1", "show 2"]);
});

test("after a no a click opens nothing for ten seconds, after three nothing in this document: that is known before it is asked", () => {
  const no = (times: number): State => play(Array.from({ length: times }, (_, at): [number, Event][] => [[at * 100_000, ask(at)], [at * 100_000, end(at, "denied")]]).flat()).state;
  const may = (state: State, now: number, document = "D", origin = A) => mayAsk(state, { origin, document }, now);
  assert.deepEqual([may(START, 0), may(no(1), 1), may(no(1), 1, "E"), may(no(1), COOLDOWN_MS), may(no(1), 1, "D", "https://b.example")], [true, false, false, true, true]);
  assert.deepEqual([may(no(MOST_DENIALS), 900_000), may(no(MOST_DENIALS), 900_000, "reloaded")], [false, true]);
});

test("one click opens one question, however it ended; another document's clicks are its own", () => {
  const { done } = play([[0, ask(1, A, "D", 7)], [1, end(1, "allowed")], [2, ask(2, A, "D", 7)], [3, ask(3, A, "E", 7)], [4, ask(4, A, "D", 8)]]);
  assert.deepEqual(done, ["show 1", "ERR_USER_GESTURE_REQUIRED 2", "show 3"]);
});

test("another origin does not wait for it", () => {
  assert.deepEqual(play([[0, ask(1)], [1, end(1, "denied")], [2, ask(2, "https://b.example")]]).done, ["show 1", "show 2"]);
});

test("after three denials the document has to be another one", () => {
  const denials: [number, Event][] = [1, 2, 3].flatMap((id) => [
    [id * 100_000, ask(id)],
    [id * 100_000 + 1, end(id, "denied")],
  ]);
  const { done } = play([...denials, [900_000, ask(4)], [900_001, ask(5, A, "reloaded")]]);
  assert.deepEqual(done.slice(MOST_DENIALS), ["ERR_PERMISSION_DENIED 4", "show 5"]);
});

test("runs that get no yes open fewer and fewer windows, also over a restart; a yes ends that, and other sites have their own", () => {
  let state = START;
  let windows = 0;
  for (let now = 0; now < 3_600_000; now += 1_000) {
    if (!mayConfirm(state, A, now)) continue;
    windows += 1;
    state = recalled(JSON.parse(JSON.stringify(memoryOf(confirmed(state, A, windows % 2 === 0 ? "denied" : "withdrawn", now)))));
  }
  assert.equal(windows, 11, "in an hour");
  assert.deepEqual([mayConfirm(state, A, 3_600_000), mayConfirm(state, "https://b.example", 3_600_000)], [false, true]);
  state = confirmed(state, A, "allowed", 3_600_000);
  for (const outcome of ["denied", "withdrawn", "denied"] as const) {
    assert.ok(mayConfirm(state, A, 3_600_000));
    state = confirmed(state, A, outcome, 3_600_000);
  }
  assert.deepEqual([3_600_000, 3_600_000 + COOLDOWN_MS].map((now) => mayConfirm(state, A, now)), [false, true]);
  assert.deepEqual(play([[0, ask(1)]]).done, ["show 1"], "the site may ask at a click as before");
});

test("few wait, and few are open", () => {
  const waiting = Array.from({ length: MOST_WAITING + 2 }, (_, id): [number, Event] => [0, ask(id)]);
  assert.deepEqual(play(waiting).done, ["show 0", `ERR_RATE_LIMITED ${MOST_WAITING + 1}`]);
  const open = Array.from({ length: MOST_OPEN + 1 }, (_, id): [number, Event] => [0, ask(id, `https://${id}.example`)]);
  assert.equal(play(open).done.at(-1), `ERR_RATE_LIMITED ${MOST_OPEN}`);
});

test("however it goes: one open per origin, each is shown or refused once at most, and all that waits is behind something open", () => {
  let seed = 11;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % below;
  for (let walk = 0; walk < 200; walk += 1) {
    let state = START;
    let now = 0;
    const told = new Map<number, string>();
    for (let id = 0; id < 60; id += 1) {
      now += random(8_000);
      const origin = `https://${random(3)}.example`;
      const outcome = (["allowed", "denied", "withdrawn", "failed"] as const)[random(4)] ?? "denied";
      const event = random(2) === 0 ? ask(id, origin, `${random(4)}`, random(4) > 0 ? id + 1 : 0) : end(random(id + 1), outcome);
      const taken = step(state, event, now);
      state = taken.state;
      for (const action of taken.actions) {
        assert.ok(!told.has(action.id), `${action.id} ${told.get(action.id)}`);
        told.set(action.id, action.do);
      }
      const open = state.open.map((question) => question.origin);
      assert.equal(new Set(open).size, open.length);
      assert.ok(state.waiting.every((question) => open.includes(question.origin)));
    }
  }
});
