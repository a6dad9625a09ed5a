// Whether this page may use a model now, and the way to it: the person is asked where nobody has answered yet.
//
// Owns that order. Must never tell a page more than the four words of the standard.

import { CapturedPromise, later, then } from "./builtins.ts";
import { type Asked, ask, begin } from "./channel.ts";
import type { Ending } from "./endings.ts";
import { failure, modelFailed } from "./errors.ts";
import { isAlone } from "./alone.ts";

export type Availability = "unavailable" | "downloadable" | "downloading" | "available";

/** As the background tells it. */
export interface ModelState {
  state: Availability;
  /** Why it is unavailable: the person has said no. */
  denied?: boolean;
  /** Nobody has answered: there is no Harbor. What there is to do. */
  alone?: { code: string; message: string };
  /** How many tokens the model looks at, where that is known. */
  window?: number;
  /** False where it is known to see no images. */
  vision?: boolean;
}

/** How it is now. Where nobody answers, there is none; rejects where this page has asked too much at once to be answered. */
export async function stateNow(): Promise<ModelState> {
  try {
    return (await ask("model_state")) as ModelState;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    if (code === "ERR_RATE_LIMITED") throw error;
    return isAlone(error) ? { state: "unavailable", alone: { code, message } } : { state: "unavailable" };
  }
}

/** Whether a session that is to see images is out of the question. */
export const isBlind = (state: ModelState, image: boolean): boolean => image && state.vision === false;

/** Comes to the model, by a question where it takes one. `progress` hears 0, and 1 when it is there. `known`: how it was a moment ago. */
export async function ready(image: boolean, ending: Ending, progress: (loaded: number) => void, known?: ModelState): Promise<ModelState> {
  const before = known ?? (await stateNow());
  ending.check();
  refuse(before, image);
  progress(0);
  const now = before.state === "available" ? before : await granted(ending);
  await turnOver();
  ending.check();
  progress(1);
  // Whoever ends it when it hears that has ended it.
  await turnOver();
  ending.check();
  return now;
}

function refuse(state: ModelState, image: boolean): void {
  if (state.denied === true) throw failure("ERR_PERMISSION_DENIED", "the person refused");
  if (state.state === "unavailable" || isBlind(state, image)) {
    throw modelFailed("no model is available for this", { cause: "no_model" });
  }
}

/** The question that this page has open, and how many wait for its answer. */
let question: { asked: Asked; waiting: number } | undefined;

/** Asks the person, or waits for the answer to what was asked already. Who leaves last takes the question back. */
async function granted(ending: Ending): Promise<ModelState> {
  question ??= { asked: begin("request_permissions", { scopes: ["model:prompt"] }, {}), waiting: 0 };
  const mine = question;
  mine.waiting += 1;
  const over = (): void => {
    if (question === mine) question = undefined;
  };
  ending.onEnd(() => {
    mine.waiting -= 1;
    if (mine.waiting > 0) return;
    over();
    mine.asked.cancel();
  });
  then(mine.asked.answer, over, over);
  const answer = (await mine.asked.answer) as { granted: boolean };
  if (!answer.granted) throw failure("ERR_PERMISSION_DENIED", "the person refused");
  return await stateNow();
}

/** Lets all that waits go first. */
const turnOver = (): Promise<void> => new CapturedPromise((resolve) => void later(resolve, 0));
