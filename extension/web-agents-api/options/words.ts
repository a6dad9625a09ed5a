// What the options say, in plain words.
//
// Pure. Must never promise what the background does not hold.

import type { BridgeView } from "../../shared/protocol/peer.ts";
import type { Preference } from "../../shared/protocol/page.ts";
import type { Flags } from "../flags.ts";

/** What is known of `harbor`. */
export type HarborView = { is: "unknown" } | { is: "missing" } | { is: "lost" } | ({ is: "there" } & BridgeView);

export interface Said {
  tone: "good" | "bad" | "plain";
  text: string;
}

/** Whether Harbor is there, and what to do if not. */
export function saidOf(harbor: HarborView, browser: "chrome" | "firefox"): Said {
  switch (harbor.is) {
    case "unknown":
      return { tone: "plain", text: "Looking for Harbor…" };
    case "missing": {
      const list = browser === "chrome" ? "chrome://extensions" : "about:addons";
      const where = `It is \`harbor-${browser}\` in \`extension/dist\` of Harbor's source`;
      const text = `The extension Harbor is not installed, so sites find no tools. Switch it on at ${list}, or load it as you loaded this one. ${where}; \`extension/README.md\` there says how.`;
      return { tone: "bad", text };
    }
    case "lost":
      return { tone: "bad", text: "Harbor just ended. It starts again when a site asks for tools." };
    case "there":
      return saidOfBridge(harbor);
  }
}

function saidOfBridge({ state, message }: BridgeView): Said {
  if (state === "ready") return { tone: "good", text: "Harbor is connected." };
  if (state === "idle") return { tone: "plain", text: "Harbor is installed. It connects when a site asks for tools." };
  if (state === "connecting") return { tone: "plain", text: "Harbor is connecting…" };
  const reason = (message ?? "no reason was given").replace(/^./, (letter) => letter.toUpperCase());
  return { tone: "bad", text: `The extension is installed but not connected. ${reason}.` };
}

/** The pieces of a text; what stands between backticks is a command or a path. */
export function piecesOf(text: string): { code: boolean; text: string }[] {
  const pieces = text.split("`");
  // One without a partner is a character like others.
  const paired = pieces.length % 2 === 1 ? pieces : [...pieces.slice(0, -2), pieces.slice(-2).join("`")];
  return paired.map((piece, at) => ({ code: at % 2 === 1, text: piece })).filter((piece) => piece.text !== "");
}

/** What each switch is for. */
export const FLAG_WORDS: { [flag in keyof Flags]: { head: string; text: string } } = {
  textGeneration: {
    head: "Sites may use your models",
    text: "Only sites that you allowed. Off: no site can use a model; running answers finish.",
  },
  toolAccess: {
    head: "Sites may see your tools",
    text: "Only the tools you allowed. Off: no site learns which tools you have.",
  },
  toolCalling: {
    head: "Sites may use your tools",
    text: "Only the tools you allowed. Off: no site can call any tool; running calls finish.",
  },
  agentRuns: {
    head: "Sites may have a model work with tools",
    text: "Only sites you allowed, with the tools you allowed. Off: no site can begin such a task; running tasks finish.",
  },
  browserInteraction: {
    head: "Sites may have Harbor read and click in their own page",
    text: "Only sites you allowed, each in its own tab. Off: no site can.",
  },
  screenshots: {
    head: "Sites may have pictures of their own page",
    text: "Only sites you allowed. Frames of others and secret fields are left out. Off: no site can.",
  },
  browserControl: {
    head: "Sites may open and lead tabs",
    text: "Only sites you allowed, only tabs that they opened and their own. Off: no site can.",
  },
  pageTools: {
    head: "Sites may give your model tools of their own",
    text: "These run in the site's own page, and only there. Off: no site can begin such a task.",
  },
};

/** What can be said of a site's `LanguageModel`. */
export const PREFERENCE_WORDS: { [preference in Preference | "missing"]: string } = {
  missing: "the browser's own, else yours",
  always: "always yours",
  unavailable: "yours where the browser's own is unavailable",
  never: "never yours",
};
