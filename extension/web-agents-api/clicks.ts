// What a click of the person is good for: it opens one window at most, a question or the settings.
//
// Pure. Owns the last click of one document. Must never say whether a question is needed: `harbor` does, and says so in its answer.

import { CodedError } from "../shared/protocol/codes.ts";

export class Clicks {
  #gesture = 0;
  #hasOpenedSettings = false;
  /** How many questions it has opened, or may be about to. */
  #questions = 0;

  /** The settings are opened by it; throws ERR_USER_GESTURE_REQUIRED where it is good for no window any more. */
  forSettings(gesture: number): void {
    this.#is(gesture);
    if (gesture === 0 || this.#hasOpenedSettings || this.#questions > 0) {
      throw new CodedError("ERR_USER_GESTURE_REQUIRED", "this requires a click or a key just before, which has not opened anything else");
    }
    this.#hasOpenedSettings = true;
  }

  /** It may open a question: the gesture that this may be, 0 where it is none. `none`: is to be called where none was opened. */
  forQuestion(gesture: number): { gesture: number; none(): void } {
    this.#is(gesture);
    if (this.#hasOpenedSettings) return { gesture: 0, none: () => undefined };
    this.#questions += 1;
    const none = (): void => {
      if (this.#gesture === gesture) this.#questions -= 1;
    };
    return { gesture, none };
  }

  #is(gesture: number): void {
    if (gesture === this.#gesture) return;
    this.#gesture = gesture;
    this.#hasOpenedSettings = false;
    this.#questions = 0;
  }
}
