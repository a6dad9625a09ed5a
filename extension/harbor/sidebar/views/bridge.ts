// The connection to Harbor on this machine, and what to do where there is none.
//
// Owns the steps for each reason. They have to be enough for a person who has never heard of any of it.

import { harborStep } from "../chat/first_run.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, command, notice, sentence } from "../parts.ts";
import type { BridgeView } from "../serve.ts";
import { type Tone, timeWords } from "../words.ts";

const LINES: { [state in BridgeView["state"]]: readonly [Tone, string] } = {
  idle: ["idle", "Not connected"],
  connecting: ["busy", "Connecting…"],
  ready: ["good", "Connected"],
  waiting: ["warn", "Reconnecting…"],
  failed: ["bad", "Not connected"],
};

/** One line in the head of the page. */
export function bridgeLine({ state, version }: BridgeView): VNode {
  const [tone, words] = LINES[state];
  const title = version === undefined ? undefined : `Harbor ${version}`;
  return h("span.standing", { "data-tone": tone, title }, h(state === "ready" ? "span.unseen" : "span", {}, words));
}

/** What to do; nothing while all is well. `tried`: when the person has tried again last. */
export function bridgeHelp(hands: Hands, bridge: BridgeView, tryAgain: () => void, tried?: number): Child {
  const { state, cause, message = "" } = bridge;
  const found = tried === undefined ? undefined : h("span.soft", { id: "tried" }, `Tried at ${timeWords(tried)}: ${cause === "host_missing" ? "the program was not found" : "still no connection"}.`);
  const again = h("p.buttons", {}, button("Try again", tryAgain, { id: "again", key: "again", busy: state === "connecting" }), found);
  if (state === "idle") return notice("idle", h("p", {}, "Not connected to Harbor on this machine."), again);
  if (state === "waiting") return notice("warn", h("p", {}, sentence(message)), h("p.soft", {}, "Harbor restarts automatically."));
  if (state !== "failed") return undefined;
  const head = h("h2", {}, cause === "host_missing" ? "Harbor is not set up for this browser" : "No connection to Harbor");
  return notice("bad", head, ...stepsOf(hands, bridge), again);
}

function stepsOf(hands: Hands, { cause, message = "", older }: BridgeView): Child[] {
  const said = h("p", {}, sentence(message));
  switch (cause) {
    case "host_missing":
      return missing(hands);
    case "host_forbidden":
      return [
        h("p", {}, "Harbor is installed but not connected to this extension. Run in a terminal:"),
        command("harbor host install", hands),
      ];
    case "version":
      return [said, ...versions(hands, older)];
    default:
      return [said, h("p", {}, "This finds the problem and fixes what it can:"), command("harbor doctor", hands)];
  }
}

/** Where both were built from one source: how the older half follows. */
function versions(hands: Hands, older: BridgeView["older"]): Child[] {
  const extension = [
    h("p", {}, `This extension (${__VERSION__}) is updated in the directory of Harbor's source:`),
    command("git pull && cd extension && npm ci && npm run build", hands),
    h("p", {}, "Then reload both of Harbor's extensions: ", ...RELOAD),
  ];
  const program = [
    h("p", {}, "An older Harbor may still be running. This ends it; the new one starts automatically:"),
    command("harbor shutdown", hands),
    h("p", {}, "If that does not help, update Harbor in the directory of its source, then end it once more:"),
    command("git pull && scripts/run", hands),
  ];
  if (older === "extension") return extension;
  if (older === "program") return program;
  return [
    h("p", {}, "This shows the version of the program:"),
    command("harbor --version", hands),
    h("h3", {}, "If the extension is older"),
    ...extension,
    h("h3", {}, "If the program is older"),
    ...program,
  ];
}

/** Where this browser has its extensions; no page may lead there. */
const RELOAD: Child[] =
  __BROWSER__ === "firefox"
    ? [h("code", {}, "about:debugging#/runtime/this-firefox"), " has a Reload button for each."]
    : [h("code", {}, "chrome://extensions"), " has a round arrow for each."];

function missing(hands: Hands): Child[] {
  return [
    harborStep(hands),
    h("p", {}, "This extension needs the Harbor program on this machine, which runs the tools. This browser does not know where it is."),
    h("h3", {}, "You have Harbor"),
    h("p", {}, "This connects it to your browsers. Run it in a terminal, then press Try again:"),
    command("harbor host install", hands),
    h("h3", {}, "You do not have it yet"),
    h("p", {}, "This builds and installs it, in the directory of Harbor's source, and connects it:"),
    command("scripts/run", hands),
    h("details", { key: "more" }, h("summary", {}, "That did not work?"), ...otherwise(hands)),
  ];
}

function otherwise(hands: Hands): Child[] {
  return [
    h("p.soft", {}, "If the command is not found, it is not in your PATH. Use ", h("code", {}, "~/.local/bin"), ":"),
    command("~/.local/bin/harbor host install", hands),
    ...(__BROWSER__ === "firefox" ? [] : ownProfile(hands)),
  ];
}

function ownProfile(hands: Hands): Child[] {
  return [
    h("p.soft", {}, "For a Chromium with its own profile directory:"),
    command("harbor host install --browser chromium --user-data-dir DIR", hands),
  ];
}
