// The script in the world of the page: defines what pages find, once the channel is there.
//
//   page ─ window.agent, … ─► here ─ port ─► content.ts ─ port ─► background.ts ─► Harbor
//
// Owns which names are defined. Must never replace what somebody else has defined, or define anything that cannot ask.

import { CapturedEvent, defineProperty, dispatchTo, listenTo, self_ } from "./builtins.ts";
import { agent } from "./agent.ts";
import { connect } from "./channel.ts";
import { shown } from "./errors.ts";

function begin(): void {
  defineProperty(self_, "agent", shown(agent));
  dispatchTo(self_, new CapturedEvent("agent-ready"));
  // Once more when the page's own scripts can have listened.
  listenTo(self_, "DOMContentLoaded", () => dispatchTo(self_, new CapturedEvent("agent-ready")));
}

if (!("agent" in self_)) connect(begin);
