// The sidebar's end of the port to the background.
//
// Owns when it is opened again: at once where there was a connection to the bridge, since the browser has ended the background or
// updated the extension; otherwise when the person asks for something.

import { connectOwn } from "../../shared/browser/api.ts";
import { type After, Caller } from "../../shared/ports/caller.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { OWN_PORT } from "../own.ts";
import type { BridgeView } from "./serve.ts";

/** How long a background may take to say its first word: what was sent to one that just ended is lost, and that is not told. */
const FIRST_MS = 10_000;

/** How often the port is opened again before the background has said anything about the bridge. */
const MOST_TRIES = 3;

export function link(heard: (type: string, payload: Fields) => void, connect = () => connectOwn(OWN_PORT), after?: After): Caller {
  let bridge: BridgeView = { state: "idle" };
  let tries = 0;
  const caller: Caller = new Caller(connect, lost, told, after, FIRST_MS);
  return caller;

  function told(type: string, payload: Fields): void {
    if (type === "bridge") {
      bridge = payload as unknown as BridgeView;
      tries = 0;
    }
    heard(type, payload);
  }

  function lost(): CodedError {
    const stood = bridge.state === "ready" || (bridge.state === "connecting" && tries < MOST_TRIES);
    tries += 1;
    // What failed is still the reason why there is no connection. What stood is connected again: to say meanwhile that it
    // is gone would move what the person is about to click.
    if (bridge.state !== "failed") bridge = { state: stood ? "connecting" : "idle" };
    heard("bridge", { ...bridge });
    if (stood) setTimeout(() => void caller.call("ping", {}).catch(() => undefined));
    return new CodedError("ERR_INTERNAL", "Harbor's background has ended: try again");
  }
}
