// What can be done by `/`: things of the chat, the prompts of servers, and Harbor's own prompts.
//
// Owns the list. A prompt of a server is somebody else's text: it comes into the field, where the person sees it before it is sent.

import type { Hands } from "../hands.ts";
import type { Composer } from "./composer.ts";
import { put } from "./field.ts";
import { choosePrompt } from "./prompt_form.ts";
import { type Prompt, promptsOf } from "./prompts.ts";

export interface Action {
  name: string;
  words: string;
  run(): void;
}

/** Harbor's own prompts are listed as those of a server with this name, and need no server. */
const OWN = "harbor";

/** Prompts of running servers and of Harbor; absent: not asked yet. */
let prompts: Prompt[] | undefined;

export function actionsOf(hands: Hands, doing: Composer): Action[] {
  if (prompts === undefined) void loadPrompts(hands);
  const own: Action[] = [
    { name: "new", words: "Begin another chat", run: () => (put(""), hands.go({ at: "chat" })) },
    { name: "history", words: "Search your chats", run: () => (put(""), hands.go({ at: "chats" })) },
    { name: "models", words: "Choose or add models", run: () => (put(""), hands.go({ at: "models" })) },
    { name: "tools", words: "See your servers", run: () => (put(""), hands.go({ at: "servers" })) },
  ];
  return [...own, ...(prompts ?? []).map((prompt) => actionOf(hands, prompt)), ...(doing.actions?.() ?? [])];
}

function actionOf(hands: Hands, prompt: Prompt): Action {
  const name = prompt.server === OWN ? prompt.name : `${prompt.server}.${prompt.name}`;
  return { name: name.toLowerCase(), words: prompt.words, run: () => choosePrompt(hands, prompt) };
}

async function loadPrompts(hands: Hands): Promise<void> {
  prompts = [];
  const running = (hands.state.servers ?? []).filter(({ server_id, state }) => state === "running" && server_id !== OWN);
  const sources = [{ server_id: OWN }, ...running];
  const lists = await Promise.all(sources.map(({ server_id }) => hands.ask("mcp_list_prompts", { server_id }).then(({ prompts: list }) => promptsOf(server_id, list), () => [])));
  prompts = lists.flat();
  hands.change({});
}

/** Servers have changed: their prompts are asked for anew. */
export function forgetPrompts(): void {
  prompts = undefined;
}
