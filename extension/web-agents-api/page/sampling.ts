// How freely a session's model chooses its words, in the five words of the standard.
//
// Owns what each of them is for a model. Must never ask for more than all providers take: a temperature above 1 is an error at some, and
// a model that takes none is asked without (docs/models-windows.md).

import { wrong } from "./errors.ts";
import { placeOf } from "./lists.ts";
import type { Wishes } from "./turn.ts";

const MODES = ["most-predictable", "predictable", "balanced", "creative", "most-creative"] as const;
export type SamplingMode = (typeof MODES)[number];

/** Reads the option; a TypeError where it is none of them. Without one it is the model's own way. */
export function samplingModeOf(value: unknown): SamplingMode {
  if (value === undefined) return "balanced";
  const word = `${value}`;
  const at = placeOf(MODES, (mode) => mode === word);
  if (at < 0) throw wrong(`${word} is no samplingMode`);
  return MODES[at] as SamplingMode;
}

/** The same for a model. */
export function settingsOf(mode: SamplingMode): Wishes {
  switch (mode) {
    case "most-predictable":
      return { temperature: 0 };
    case "predictable":
      return { temperature: 0.4 };
    case "balanced":
      return {};
    case "creative":
      return { temperature: 1 };
    case "most-creative":
      return { temperature: 1, top_p: 1 };
  }
}
