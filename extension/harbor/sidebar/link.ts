// The sidebar's end of the port to the background.
//
// Owns when it is opened again: at once where there was a connection to the bridge, since the browser has ended the background or
// updated the extension; otherwise when the person asks for something.

import { connectOwn } from "../../shared/browser/api.ts";
import { Caller } from "../../shared/ports/caller.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import { OWN_PORT } from "../own.ts";
import type { BridgeView } from "./serve.ts";

export function link(heard: (type: string, payload: Fields) => void): Caller {
  let bridge: BridgeView = { state: "idle" };
  const caller: Caller = new Caller(() => connectOwn(OWN_PORT), lost, (type, payload) => {
    if (type === "bridge") bridge = payload as unknown as BridgeView;
    heard(type, payload);
  });
  return caller;

  function lost(): CodedError {
    const stood = bridge.state === "ready";
    // What failed is still the reason why there is no connection. What stood is connected again: to say meanwhile that it
    // is gone would move what the person is about to click.
    if (bridge.state !== "failed") bridge = { state: stood ? "connecting" : "idle" };
    heard("bridge", { ...bridge });
    if (stood) setTimeout(() => void caller.call("ping", {}).catch(() => undefined));
    return new CodedError("ERR_INTERNAL", "Harbor's background has ended: try again");
  }
}
