// A request that is handed on to the next port: what comes back goes on, what its asker says goes down.
//
// Pure. Must never know what is asked: tools, prompts and runs all go this way.

import type { Context } from "./answerer.ts";
import type { CallOptions } from "./caller.ts";

/** The options of the call that works on the request of `context`. */
export function relayed({ signal, progress, chunk, onMore }: Context): CallOptions {
  return { signal, onProgress: progress, onChunk: chunk, begun: onMore };
}
