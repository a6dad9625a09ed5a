// What becomes of words that the bridge does not take, with a bridge that the test plays.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../../../shared/protocol/codes.ts";
import { Hands } from "../hands.ts";
import { type State, Store } from "../store.ts";
import { SAY, Talk } from "./talk.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));
const SAID = { text: "words", attachments: [] };

/** A chat with this id, whose bridge refuses these requests. */
function played(id: string | undefined, refused: { [type: string]: CodedError }) {
  const back: unknown[] = [];
  const store = new Store({ acts: {}, said: "", chat: undefined } as unknown as State, () => undefined);
  const hands = new Hands(store, async (type) => {
    if (refused[type] !== undefined) throw refused[type];
    return type === "chat_get_session" ? { session: { id, turn_id: undefined }, messages: [], branches: [] } : { seq: 0, session: { id: "new" } };
  });
  const talk = new Talk(hands, (said, editing) => back.push([said.text, editing]));
  talk.open(id);
  return { back, hands, talk };
}

test("words for which there is no chat, or no branch, are the person's again", async () => {
  const full = new CodedError("internal", "the disk is full");
  const fresh = played(undefined, { chat_create_session: full });
  fresh.talk.say(SAID, { isPrivate: false }, () => assert.fail("nothing began"));
  await settle();
  assert.deepEqual([fresh.back, fresh.hands.state.acts[SAY]], [[["words", undefined]], { code: "internal", message: "the disk is full" }]);
  const branching = played("s", { chat_branch: full });
  await settle();
  branching.talk.branch(4, SAID, () => assert.fail("nothing began"));
  await settle();
  assert.deepEqual(branching.back, [["words", 4]]);
});

test("a provider's word on when it takes requests again is kept until the next message", async () => {
  const refused: { [type: string]: CodedError } = { chat_send_message: new CodedError("ERR_MODEL_FAILED", "slow down", { retry_after_ms: 30_000 }) };
  const { hands, talk } = played("s", refused);
  await settle();
  const before = Date.now();
  talk.say(SAID, { isPrivate: false }, () => undefined);
  await settle();
  assert.ok((hands.state.chat?.free ?? 0) >= before + 30_000);
  delete refused["chat_send_message"];
  talk.say(SAID, { isPrivate: false }, () => undefined);
  await settle();
  assert.equal(hands.state.chat?.free, undefined);
});
