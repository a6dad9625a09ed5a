// Whose `LanguageModel` this origin has, where the person has said so: a script of its own for each way, before those of the page.
//
// Owns how that script and the injected one find each other, whichever comes first. Must never take a browser's own model away from a
// page without the person's word.

import type { Preference } from "../../shared/protocol/page.ts";

/** Where the script leaves what it does for the injected one, which takes it away before any script of the page runs. */
const WORD = "__harbor_language_model";

interface Model {
  isHarbor?: unknown;
  availability(options?: unknown): Promise<string>;
  create(options?: unknown): Promise<object>;
}

type World = { harbor?: { LanguageModel?: Model }; LanguageModel?: Model; [WORD]?: (ours: Model) => void };

/** What the script of a preference does. */
export function prefer(preference: Preference): void {
  const world = window as unknown as World;
  if (world.harbor?.LanguageModel === undefined) Object.defineProperty(world, WORD, { value: (ours: Model) => apply(world, ours, preference), configurable: true });
  else apply(world, world.harbor.LanguageModel, preference);
}

/** What the injected script does, once it has defined all. */
export function takePreference(): void {
  const world = window as unknown as World;
  const prefers = world[WORD];
  delete world[WORD];
  if (world.harbor?.LanguageModel !== undefined) prefers?.(world.harbor.LanguageModel);
}

function apply(world: World, ours: Model, preference: Preference): void {
  const native = world.LanguageModel;
  const isNative = native !== undefined && native.isHarbor !== true;
  if (preference === "never" && !isNative) delete world.LanguageModel;
  if (preference === "always") world.LanguageModel = ours;
  if (preference === "unavailable" && isNative) world.LanguageModel = eitherOf(native, ours);
}

/** The browser's own where it can be used, else ours. */
function eitherOf(native: Model, ours: Model): Model {
  const nativeAvailability = native.availability.bind(native);
  const nativeCreate = native.create.bind(native);
  const chosen = async (options: unknown): Promise<{ isNative: boolean; state: string }> => {
    const state = await nativeAvailability(options).catch(() => "unavailable");
    return { isNative: state !== "unavailable", state };
  };
  class Either {
    static readonly isHarbor = true;

    static async availability(options?: unknown): Promise<string> {
      const { isNative, state } = await chosen(options);
      return isNative ? state : await ours.availability(options);
    }

    static async create(options?: unknown): Promise<object> {
      return await ((await chosen(options)).isNative ? nativeCreate(options) : ours.create(options));
    }

    static [Symbol.hasInstance](value: unknown): boolean {
      return [native, ours].some((one) => value instanceof (one as unknown as new () => object));
    }
  }
  Object.defineProperty(Either, "name", { value: "LanguageModel", configurable: true });
  return Either;
}
