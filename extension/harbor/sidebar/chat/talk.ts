// The chat that is shown: reads it, follows it, and says what the person types.
//
//   open ─► chat_watch ─► chat_get_session ─► events of the turn that is under way ─┐
//     ▲                                                                              ▼
//     └──────────── the turn is over, another window has begun one ◄──────────── heard
//
// Owns which events are new. Turns belong to the bridge: leaving, closing and losing the connection end none. Must never send a message twice.

import { type Fields, isFields } from "../../../shared/ports/wire.ts";
import { CodedError } from "../../../shared/protocol/codes.ts";
import type { Pushes } from "../../../shared/protocol/generated/messages.ts";
import type { Hands } from "../hands.ts";
import type { Chat, State } from "../store.ts";
import { freeAt } from "./free.ts";
import { type Attachment, type Item, type Turn, begun, ended, heard, ofMessages, untilTurn } from "./transcript.ts";

export const READ_CHAT = "read chat";
export const SAY = "say";

/** What a new chat begins with. */
export interface Beginning {
  model?: string | undefined;
  servers?: string[] | undefined;
  isPrivate: boolean;
}

export interface Said {
  text: string;
  attachments: Attachment[];
  /** No tools: one answer from what is said. */
  alone?: boolean;
}

const LOST = "Harbor ended in the middle of this answer. The part that you see is not kept. Try again.";
const LATE = "Another window sent a message first. Yours is in the field again: send it after that answer.";

const NEVER = { turn: undefined, before: 0 };

export class Talk {
  readonly #hands: Hands;
  readonly #giveBack: (said: Said, editing?: number) => void;
  /** Events that came before it was known to which state they belong. */
  #early: Pushes["chat_event"][] | undefined;
  #seen = -1;
  /** What the messages have already: this turn, and all events before this number. */
  #past: { turn: string | undefined; before: number } = NEVER;
  /** A turn of the past as its events tell it again: how it ended stands in no message. */
  #recalled: Turn | undefined;
  /** A message is on its way, whose turn is not known yet. */
  #isSaying = false;

  /** @param giveBack what the bridge did not take is the person's again */
  constructor(hands: Hands, giveBack: (said: Said, editing?: number) => void) {
    [this.#hands, this.#giveBack] = [hands, giveBack];
  }

  get #chat(): Chat | undefined {
    return this.#hands.state.chat;
  }

  /** Shows a session, or a new one, and follows it. */
  open(id: string | undefined, left?: AbortSignal): void {
    const before = this.#chat;
    if (before === undefined || before.id !== id) {
      this.#become({ id, isKnown: id === undefined });
    }
    if (id !== undefined) this.#read(id, left);
  }

  /** Another session is shown. */
  #become(now: Partial<Chat>): void {
    const before = this.#chat?.id;
    if (before !== undefined) this.#leave(before);
    this.reconnected();
    this.#change({ ...NOTHING, ...now });
  }

  #leave(session_id: string): void {
    void this.#hands.ask("chat_watch", { session_id, watch: false }).catch(() => undefined);
  }

  #read(id: string, left?: AbortSignal): void {
    this.#hands.read(
      READ_CHAT,
      async (signal) => {
        this.#early = [];
        try {
          const going = this.#chat?.id === id ? this.#chat.turn : undefined;
          const since = going === undefined || this.#seen < 0 ? {} : { after_seq: this.#seen, turn_id: going.id };
          const watched = await this.#hands.ask("chat_watch", { session_id: id, ...since }, { signal });
          const whole = await this.#hands.ask("chat_get_session", { session_id: id }, { signal });
          if (this.#chat?.id !== id) return;
          const { session, messages, branches } = whole;
          const items = ofMessages(messages);
          const turn = session.turn_id;
          this.#past = turn === undefined ? { turn: watched.turn_id, before: watched.seq } : NEVER;
          const goesOn = turn !== undefined && going?.id === turn && this.#seen >= 0;
          // A bridge without any event of the session is another one: it tells no end of the turn.
          const isLost = turn === undefined && going !== undefined && !going.over && watched.seq === 0;
          if (turn !== undefined && !goesOn) this.#seen = -1;
          // The turn of a message on its way may be over before anything was heard of it: then the message is among these.
          if (turn !== undefined || isAmong(items, this.#chat)) this.#isSaying = false;
          this.#change({
            session,
            branches,
            isKnown: true,
            items: turn === undefined ? items : untilTurn(items),
            turn: turn === undefined ? undefined : goesOn ? going : begun(turn),
            last: turn !== undefined || going === undefined ? this.#chat.last : isLost ? lost(going, items) : endOf(going),
            said: this.#isSaying ? this.#chat.said : undefined,
          });
        } catch (error) {
          this.#unread(id);
          throw error;
        } finally {
          const early = this.#early ?? [];
          this.#early = undefined;
          for (const event of early) this.heard(event);
        }
      },
      left,
    );
  }

  /** A chat that is gone is read no more: what the person said stays to be seen, and nothing is waited for. */
  #unread(id: string): void {
    const chat = this.#chat;
    if (chat?.id === id && chat.said !== undefined && chat.turn?.over === true) this.#change({ items: [...chat.items, chat.said], said: undefined });
  }

  /** An event of a session that this panel follows. */
  heard(push: Pushes["chat_event"]): void {
    const chat = this.#chat;
    if (chat === undefined || push.session_id !== chat.id) return;
    if (this.#early !== undefined) {
      this.#early.push(push);
      return;
    }
    if (push.seq <= this.#seen) return;
    if (push.turn_id === this.#past.turn || push.seq < this.#past.before) {
      this.#recall(push);
      return;
    }
    let { turn } = chat;
    if (turn?.id !== push.turn_id) {
      // What the person has said never became a turn: the answer to it says why.
      if (this.#isSaying && push.event.type === "error") {
        this.#seen = push.seq;
        return;
      }
      if (!this.#isSaying) {
        // Another window has begun it: its message is with the session.
        this.#past = NEVER;
        this.#read(push.session_id);
        return;
      }
      this.#isSaying = false;
      turn = begun(push.turn_id);
    }
    this.#seen = push.seq;
    const next = heard(turn, push.event);
    this.#change({ turn: next });
    if (next.over) this.#read(push.session_id);
  }

  /** The connection is a new one: nothing is followed any more, and numbers of events begin anew. */
  reconnected(): void {
    this.#seen = -1;
    this.#past = NEVER;
    this.#recalled = undefined;
  }

  /** An event of a turn whose messages are shown. */
  #recall({ turn_id, event }: Pushes["chat_event"]): void {
    this.#recalled = heard(this.#recalled?.id === turn_id ? this.#recalled : begun(turn_id), event);
    if (this.#recalled.over && this.#chat?.turn === undefined && this.#chat?.said === undefined) this.#change({ last: endOf(this.#recalled) });
  }

  /** Says something in the chat that is shown, and begins one where it is new. Gives the session's id. */
  say(said: Said, beginning: Beginning, begins: (id: string) => void): void {
    this.#hands.act(SAY, async () => {
      this.#send(this.#chat?.id ?? (await this.#kept(said, this.#begin(beginning, begins))), said);
    });
  }

  #send(id: string, said: Said): void {
    this.#isSaying = true;
    this.#change({ last: undefined, free: undefined, said: { is: "person", at: undefined, text: said.text, attachments: said.attachments } });
    const asked = { session_id: id, message: said.text, ...(said.attachments.length === 0 ? {} : { attachments: said.attachments.map(({ part }) => part) }), ...(said.alone === true ? { tool_choice: "none" } : {}) };
    // Its answer is the end of the turn, which comes as an event, too.
    void this.#hands.ask("chat_send_message", asked).catch((error: unknown) => this.#refused(id, said, error));
  }

  /** Says something in the place of an earlier message, in a branch: the chat that is shown stays as it is. */
  branch(message_id: number, said: Said, begins: (id: string) => void): void {
    const session_id = this.#chat?.id;
    if (session_id === undefined) return;
    this.#hands.act(SAY, async () => {
      const { session } = await this.#kept(said, this.#hands.ask("chat_branch", { session_id, message_id }), message_id);
      // It is read where it is shown.
      this.#become({ id: session.id, session });
      begins(session.id);
      this.#send(session.id, said);
    });
  }

  /** Where there is no session for what the person has said it is theirs again. */
  async #kept<T>(said: Said, begun: Promise<T>, editing?: number): Promise<T> {
    try {
      return await begun;
    } catch (error) {
      this.#giveBack(said, editing);
      throw error;
    }
  }

  async #begin({ model, servers, isPrivate }: Beginning, begins: (id: string) => void): Promise<string> {
    const asked = { ...(model === undefined ? {} : { model }), ...(servers === undefined ? {} : { enabled_servers: servers }), ...(isPrivate ? { private: true } : {}) };
    const { session } = await this.#hands.ask("chat_create_session", asked);
    // It is followed from where it is shown: then all events of its turn come.
    this.#become({ id: session.id, session, isKnown: true });
    begins(session.id);
    return session.id;
  }

  /** A turn that failed says so as an event. What never became one is said here, and the person's words come back. */
  #refused(id: string, said: Said, error: unknown): void {
    if (this.#chat?.id !== id) return;
    // No event of the turn says this.
    this.#change({ free: freeAt(error, Date.now()) });
    // Then the turn that is heard is another window's.
    const isLate = error instanceof CodedError && isFields(error.details) && error.details["reason"] === "busy";
    if (!this.#isSaying && !isLate) return;
    this.#isSaying = false;
    this.#change({ said: undefined });
    this.#giveBack(said);
    this.#hands.fail(SAY, isLate ? new CodedError("ERR_INVALID_REQUEST", LATE) : error);
    if (isLate) this.#read(id);
  }

  stop(): void {
    const chat = this.#chat;
    if (chat?.id === undefined) return;
    this.#change({ isStopping: true });
    void this.#hands.ask("chat_stop", { session_id: chat.id }).catch((error: unknown) => this.#hands.fail(SAY, error));
  }

  #change(patch: Partial<Chat>): void {
    const chat = { ...(this.#chat ?? NOTHING), ...patch };
    // A turn that is over, or is another one, is not being stopped.
    if (patch.turn !== undefined ? patch.turn.over : "turn" in patch) chat.isStopping = false;
    this.#hands.change({ chat });
  }
}

/** Whether what was on its way is the last that the person said, and was not known before. */
function isAmong(items: Item[], { said, items: before }: Chat): boolean {
  const ofPerson = (all: Item[]) => all.filter((item) => item.is === "person");
  return said?.is === "person" && ofPerson(items).at(-1)?.text === said.text && ofPerson(items).length > ofPerson(before).length;
}

/** What is shown of a turn whose bridge has ended: all that was seen of it and is not among the messages. */
function lost({ usage, items }: Turn, kept: Item[]): Chat["last"] {
  const more = items.slice(kept.length - untilTurn(kept).length).map(ended);
  return { usage, items: [...more, { is: "error", code: "ERR_BRIDGE_NOT_CONNECTED", message: LOST }] };
}

/** What is shown of a turn that is over besides its messages. */
function endOf({ usage, items }: Turn): Chat["last"] {
  return { usage, items: items.filter(({ is }) => is === "note" || is === "ended" || is === "error") };
}

const NOTHING: Chat = { id: undefined, session: undefined, isKnown: false, items: [], turn: undefined, said: undefined, last: undefined, isStopping: false, branches: [] };

/** Whether a turn is under way, or about to be. */
export function isBusy({ chat }: Pick<State, "chat">): boolean {
  return chat !== undefined && (chat.said !== undefined || (chat.turn !== undefined && !chat.turn.over));
}

/** A push of a session, as it came over the port. */
export const asEvent = (payload: Fields): Pushes["chat_event"] => payload as unknown as Pushes["chat_event"];
