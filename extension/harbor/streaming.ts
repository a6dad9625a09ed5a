// A request to the bridge that streams: a model's answer, or a run. Credit goes through to the bridge, which stops reading where there is none.
//
// Owns the end of a stream that nobody reads. Must never join, leave out or reorder what comes.

import type { NativeClient } from "../shared/native/client.ts";
import type { Context } from "../shared/ports/answerer.ts";
import type { After } from "../shared/ports/caller.ts";
import { FIRST_CREDIT } from "../shared/ports/wire.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { Replies, Requests } from "../shared/protocol/generated/messages.ts";

/** How long a page may leave a stream unread, with something to read there. The provider waits as long, and may ask money for it. */
export const UNREAD_MS = 60_000;

type Streaming = "host_llm_chat" | "run_start";

/** Asks, hands on each event at once, and gives the bridge what credit the page gives. */
export async function streamed<T extends Streaming>(
  bridge: Pick<NativeClient, "request">,
  type: T,
  fields: Requests[T],
  { signal, chunk, onMore }: Pick<Context, "signal" | "chunk" | "onMore">,
  after: After,
): Promise<Replies[T]> {
  const unread = new AbortController();
  const credit = new Credit(after, () => unread.abort(new CodedError("ERR_CANCELLED", "the page has not read the answer for a minute")));
  try {
    return await bridge.request(
      type,
      { ...fields, stream: true, credit: true },
      {
        signal: AbortSignal.any([signal, unread.signal]),
        onEvent(event) {
          credit.use();
          chunk(event);
        },
        begun: (more) =>
          onMore((n) => {
            credit.add(n);
            more(n);
          }),
      },
    );
  } finally {
    credit.end();
  }
}

/** What the page still takes. */
export class Credit {
  #left = FIRST_CREDIT;
  #stop: (() => void) | undefined;
  readonly #after: After;
  readonly #spent: () => void;

  /** `spent`: called when there has been none for too long. */
  constructor(after: After, spent: () => void) {
    this.#after = after;
    this.#spent = spent;
  }

  use(): void {
    this.#left -= 1;
    if (this.#left <= 0) this.#stop ??= this.#after(UNREAD_MS, this.#spent);
  }

  add(n: number): void {
    this.#left += n;
    if (this.#left > 0) this.end();
  }

  end(): void {
    this.#stop?.();
    this.#stop = undefined;
  }
}
