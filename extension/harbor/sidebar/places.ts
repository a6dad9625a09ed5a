// All views but the chat: a file of its own, which is loaded when the first view is drawn, or when the person goes there.
//
// Owns which view shows which place. Must never be imported by what the first view needs.

import type { View } from "./hands.ts";
import type { Route } from "./route.ts";
import { activity } from "./views/activity.ts";
import { add } from "./views/add.ts";
import { browser } from "./views/browser_tools.ts";
import { chats } from "./views/chats.ts";
import { install } from "./views/install.ts";
import { logs } from "./views/logs.ts";
import { models } from "./views/models.ts";
import { more } from "./views/more.ts";
import { added } from "./views/new.ts";
import { questions } from "./views/questions.ts";
import { secrets } from "./views/secrets.ts";
import { overview } from "./views/server.ts";
import { servers } from "./views/servers.ts";
import { site } from "./views/site.ts";
import { sites } from "./views/sites.ts";
import { tool } from "./views/tool.ts";
import { tools } from "./views/tools.ts";

const PARTS = { overview, tools, logs, secrets };
const PLACES = { chats, models, more, servers, sites, site, questions, activity, browser, add, install, new: added, tool };

export function placeOf(route: Exclude<Route, { at: "chat" }>): View {
  return (route.at === "server" ? PARTS[route.part] : PLACES[route.at]) as View;
}
