// `browser_wait_for`: a text, its end, an element, or a time.

import { ToolError, isOn, numbers, texts } from "../call.ts";
import { Closed, Silent, WentAway } from "../documents.ts";
import { type Hand, type Tool, inDocument } from "../hand.ts";

/** How often the page is looked at, and how long anything is waited for, in milliseconds. */
const LOOK_MS = 200;
const LONGEST_MS = 30_000;

export const waitFor: Tool = async (hand) => {
  const { args, watch, tab } = hand;
  const time = numbers(args, "time");
  const wanted = { text: texts(args, "text"), gone: texts(args, "textGone"), target: texts(args, "target") };
  const limit = Math.min((numbers(args, "timeout") ?? 10) * 1000, LONGEST_MS);
  if (time !== undefined) await pause(Math.min(time * 1000, LONGEST_MS), hand.signal);
  if (isOn(args, "load") && !(await watch.settled(tab.id, limit))) throw new ToolError(`the page has not loaded within ${limit / 1000} s`);
  if (wanted.text === undefined && wanted.gone === undefined && wanted.target === undefined) return { said: "Waited." };
  const end = Date.now() + limit;
  for (;;) {
    if (await isThere(hand, wanted)) return { said: "It is there." };
    if (Date.now() >= end) return { said: `It did not appear within ${limit / 1000} s. Take a snapshot to see the page.`, isError: true };
    await pause(LOOK_MS, hand.signal);
  }
};

async function isThere(hand: Hand, wanted: { text: string | undefined; gone: string | undefined; target: string | undefined }): Promise<boolean> {
  try {
    return (await inDocument(hand, wanted.target, "has", wanted)).is;
  } catch (error) {
    // Another document comes, or the page is busy: it is looked at next.
    if ((error instanceof WentAway && !(error instanceof Closed)) || error instanceof Silent) return false;
    throw error;
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal.addEventListener("abort", abort, { once: true });
  });
}
