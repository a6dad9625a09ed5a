// The port at which Harbor finds a llama-server: one for all cases, and those run beside each other.
//
// Owns the waiting for it. Must never end whoever else has it.

import { createServer } from "node:net";
import { until } from "./browser.ts";

/** llama-server announces itself there; few others are. */
export const LLAMA_PORT = 9931;

/** What uses the one that is found there: others may run on this machine. */
export const USE_LLAMA = `[data-use=llama-server][data-url*=":${LLAMA_PORT}"]`;

const isFree = () =>
  new Promise<boolean>((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(LLAMA_PORT, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/** Waits until nobody has it; false: somebody keeps it. */
export function llamaPortIsFree(): Promise<boolean> {
  return until("the port of llama-server", async () => (await isFree()) || undefined).catch(() => false);
}
