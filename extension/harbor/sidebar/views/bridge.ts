// The connection to Harbor on this machine, and what to do where there is none.
//
// Owns the steps for each reason. They have to be enough for a person who has never heard of any of it.

import type { Cause } from "../../../shared/native/reconnect.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, command, notice, sentence } from "../parts.ts";
import type { BridgeView } from "../serve.ts";
import type { Tone } from "../words.ts";

const LINES: { [state in BridgeView["state"]]: readonly [Tone, string] } = {
  idle: ["idle", "Not connected"],
  connecting: ["busy", "Connecting…"],
  ready: ["good", "Connected"],
  waiting: ["warn", "Connecting again…"],
  failed: ["bad", "Not connected"],
};

/** One line in the head of the page. */
export function bridgeLine({ state, version }: BridgeView): VNode {
  const [tone, words] = LINES[state];
  const title = version === undefined ? undefined : `Harbor ${version}`;
  return h("span.standing", { "data-tone": tone, title }, h("span", {}, words));
}

/** What to do; nothing while all is well. */
export function bridgeHelp(hands: Hands, bridge: BridgeView, tryAgain: () => void): Child {
  const { state, cause, message } = bridge;
  const again = h("p.buttons", {}, button("Try again", tryAgain, { id: "again", key: "again", busy: state === "connecting" }));
  if (state === "idle") return notice("idle", h("p", {}, "There is no connection to Harbor on this machine now."), again);
  if (state === "waiting") return notice("warn", h("p", {}, sentence(message ?? "")), h("p.soft", {}, "Harbor is started again by itself."));
  if (state !== "failed") return undefined;
  const head = h("h2", {}, cause === "host_missing" ? "Harbor is not set up for this browser" : "No connection to Harbor");
  return notice("bad", head, ...stepsOf(hands, cause, message ?? ""), again);
}

function stepsOf(hands: Hands, cause: Cause | undefined, message: string): Child[] {
  const said = h("p", {}, sentence(message));
  switch (cause) {
    case "host_missing":
      return missing(hands);
    case "host_forbidden":
      return [
        h("p", {}, "Harbor's program is there, and does not know this extension: it was told of another one. In a terminal:"),
        command("harbor host install", hands),
      ];
    case "version":
      return [
        said,
        h("p", {}, "Harbor's program and this extension have to be of versions that fit. This says which version the program is:"),
        command("harbor --version", hands),
        h("p", {}, `This extension is ${__VERSION__}. After an update of the program, end the old one; it starts again by itself:`),
        command("harbor shutdown", hands),
      ];
    default:
      return [said, h("p", {}, "This says what is wrong, and mends what it can:"), command("harbor doctor", hands)];
  }
}

function missing(hands: Hands): Child[] {
  return [
    h("p", {}, "This extension is one half. The other is a program on this machine, which runs the tools. This browser does not know it yet."),
    h(
      "ol.steps",
      {},
      h("li", {}, h("p", {}, "You have Harbor's program: tell this browser of it, in a terminal."), command("harbor host install", hands)),
      h("li", {}, h("p", {}, "You have not: in the directory of Harbor's source, this builds and installs it. Then do the first step."), command("scripts/run", hands)),
    ),
    h("p.soft", {}, "A Chromium with a profile of its own has to be named:"),
    command("harbor host install --browser chromium --user-data-dir DIR", hands),
  ];
}
