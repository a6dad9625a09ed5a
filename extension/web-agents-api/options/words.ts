// What the options say, in plain words.
//
// Pure. Must never promise what the background does not hold.

import type { BridgeView } from "../../shared/protocol/peer.ts";
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
      return { tone: "plain", text: "Looking for it…" };
    case "missing": {
      const list = browser === "chrome" ? "chrome://extensions" : "about:addons";
      const where = `It lies beside this one, as \`harbor-${browser}\` in \`extension/dist\` of Harbor's source`;
      const text = `The extension Harbor is not there, so sites find no tools. Switch it on at ${list}, or load it as you loaded this one. ${where}; \`extension/README.md\` there says how.`;
      return { tone: "bad", text };
    }
    case "lost":
      return { tone: "bad", text: "Harbor has ended just now. It starts again when a site asks for something." };
    case "there":
      return saidOfBridge(harbor);
  }
}

function saidOfBridge({ state, message }: BridgeView): Said {
  if (state === "ready") return { tone: "good", text: "Harbor is there, and connected." };
  if (state === "idle") return { tone: "plain", text: "Harbor is there. It connects when a site asks for something." };
  if (state === "connecting") return { tone: "plain", text: "Harbor is there, and connects." };
  const reason = (message ?? "it says no reason").replace(/^./, (letter) => letter.toUpperCase());
  return { tone: "bad", text: `The extension is there, and has no connection. ${reason}.` };
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
  toolAccess: {
    head: "Sites may see tools",
    text: "Those that you have allowed it. Off: no site learns which tools there are.",
  },
  toolCalling: {
    head: "Sites may use tools",
    text: "Those that you have allowed it. Off: no site can call any; what runs already comes to its end.",
  },
};
