// `window.ai`, in the world of the page: sessions of text, and what models there are.
//
// Owns these objects. Must never use a built-in that is not its own copy.

import { freeze, native, newId } from "./builtins.ts";
import { ask } from "./channel.ts";
import { Conversation, heldBy, streamed } from "./conversation.ts";
import { Ending, signalIn } from "./endings.ts";
import { attempt, failure, invalid } from "./errors.ts";
import { type Message, draftsOf, messagesOf } from "./input.ts";
import { joined } from "./lists.ts";
import { type Speaking, WORDS, type Word, nativeConversation, nativeWord } from "./native_model.ts";
import { ready, stateNow } from "./readiness.ts";
import type { Wishes } from "./turn.ts";

type Fields = { [name: string]: unknown };

/** A piece of an answer. */
type Token = { type: "token"; token: string } | { type: "done" } | { type: "error"; error: { code: unknown; message: unknown } };

const NO_TOOLS = { declared: [], execute: undefined };
const TEXT_ONLY = { image: false, toolResponse: false, toolCall: false };

/** A TypeError of what a page has given, with the code that all errors of `window.ai` have. */
function coded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    const { code, message } = (error ?? {}) as Fields;
    throw typeof code === "string" ? error : invalid(`${message}`);
  }
}

function sessionOf(conversation: Speaking, life: Ending): object {
  const turn = (text: unknown, options: unknown) => {
    if (typeof text !== "string") throw invalid("a prompt must be a text");
    const ending = new Ending(life.signal, coded(() => signalIn(fieldsOf(options))));
    ending.check();
    return { drafts: draftsOf(text, TEXT_ONLY, false), ending };
  };
  return freeze({
    sessionId: newId(),
    prompt: freeze((text: unknown, options?: unknown): Promise<string> =>
      attempt(() => {
        const { drafts, ending } = turn(text, options);
        return textOf(conversation.prompt(drafts, {}, ending));
      }),
    ),
    promptStreaming: freeze((text: unknown, options?: unknown): ReadableStream<Token> => {
      const { drafts, ending } = turn(text, options);
      return streamed<Token>(conversation, drafts, {}, ending, {
        piece: (token) => ({ type: "token", token }),
        end: (_, put) => put({ type: "done" }),
        failed(error, out) {
          const { code, message } = (error ?? {}) as Fields;
          out.put({ type: "error", error: { code, message } });
          out.close();
        },
      });
    }),
    clone: freeze(async () => {
      life.check();
      const own = new Ending(undefined);
      return sessionOf(await conversation.copy(own), own);
    }),
    destroy: freeze(() => {
      if (!life.isEnded) life.end(failure("ERR_CANCELLED", "the session was destroyed"));
    }),
  });
}

async function textOf(prompted: ReturnType<Conversation["prompt"]>): Promise<string> {
  return (await prompted).text;
}

function fieldsOf(options: unknown): Fields {
  if (options === undefined || options === null) return {};
  if (typeof options !== "object") throw invalid("options must be an object");
  return options as Fields;
}

function wishesOf({ model, provider, temperature, top_p }: Fields): Wishes {
  const wishes: Wishes = {};
  if (model !== undefined) wishes.model = text("model", model);
  if (provider !== undefined) wishes.provider = text("provider", provider);
  if (temperature !== undefined) wishes.temperature = number("temperature", temperature);
  if (top_p !== undefined) wishes.top_p = number("top_p", top_p);
  return wishes;
}

function text(name: string, value: unknown): string {
  if (typeof value !== "string") throw invalid(`${name} must be a text`);
  return value;
}

function number(name: string, value: unknown): number {
  if (typeof value !== "number") throw invalid(`${name} must be a number`);
  return value;
}

async function session(options: unknown, wishes: (fields: Fields) => Wishes): Promise<object> {
  const fields = fieldsOf(options);
  const wished = wishes(fields);
  const { systemPrompt, initialPrompts } = fields;
  const first: Message[] = systemPrompt === undefined ? [] : [{ role: "system", content: text("systemPrompt", systemPrompt) }];
  const drafts = coded(() => (initialPrompts === undefined ? [] : draftsOf(initialPrompts, TEXT_ONLY, first.length === 0)));
  const life = new Ending(coded(() => signalIn(fields)));
  life.check();
  // Refused at once, and not at the first prompt: who names a model has to be allowed to know of it.
  if (wished.model !== undefined || wished.provider !== undefined) await ask("active_provider", {}, { signal: life.signal });
  const before = await stateNow();
  life.check();
  const said = joined(first, await messagesOf(drafts));
  if (before.alone !== undefined) return sessionOf(await alone(before.alone, said, life), life);
  const { window } = await ready(false, life, () => undefined, before);
  const history = heldBy(window ?? Infinity, said);
  return sessionOf(new Conversation(NO_TOOLS, wished, window ?? Infinity, history), life);
}

/** Without Harbor it is the browser's own model; where there is none either, how Harbor is to be had. */
async function alone({ code, message }: { code: string; message: string }, said: readonly Message[], life: Ending): Promise<Speaking> {
  const found = await nativeConversation(said, life);
  if (found === undefined) throw failure(code, message);
  return found;
}

/** Of the person's models. */
const word = async () => WORDS[(await stateNow()).state];

/** Of what a text session would be made of. */
async function wordOfAny(): Promise<Word> {
  const { state, alone } = await stateNow();
  return alone === undefined ? WORDS[state] : await nativeWord();
}

async function best(): Promise<"harbor" | "chrome" | null> {
  if ((await word()) !== "no") return "harbor";
  return (await nativeWord()) === "no" ? null : "chrome";
}

/** What pages find as `window.ai`. */
export const ai = freeze({
  canCreateTextSession: freeze(wordOfAny),
  createTextSession: freeze((options?: unknown) => session(options, wishesOf)),
  languageModel: freeze({
    capabilities: freeze(async () => ({ available: await wordOfAny() })),
    // Providers have no topK in common; it is left out.
    create: freeze((options?: unknown) => session(options, ({ temperature }) => wishesOf({ temperature }))),
  }),
  providers: freeze({
    list: freeze(() => ask("providers")),
    getActive: freeze(() => ask("active_provider")),
    /** Opens the person's settings. What a page would like to add stays with the page. */
    add: freeze(() => ask("open_settings")),
  }),
  runtime: freeze({
    get harbor(): object {
      return ai;
    },
    firefox: null,
    chrome: native.LanguageModel ?? null,
    getBest: freeze(best),
    getCapabilities: freeze(async () => ({ harbor: { available: await word() }, chrome: { available: await nativeWord() }, firefox: null })),
  }),
});
