// The sidebar: the connection to the bridge, and the servers with their live state.
//
// Owns the page. What it shows is pushed to it; it asks for nothing over and over. Must never parse HTML: texts go into textContent.

import { connectOwn } from "../../shared/browser/api.ts";
import { Caller } from "../../shared/ports/caller.ts";
import type { Fields } from "../../shared/ports/wire.ts";
import { CodedError } from "../../shared/protocol/codes.ts";
import type { Server } from "../../shared/protocol/generated/messages.ts";
import { visible } from "../../shared/text/visible.ts";
import { OWN_PORT } from "../own.ts";
import type { BridgeView, SidebarPushes } from "./serve.ts";

const part = (id: string) => document.getElementById(id) as HTMLElement;

const background = new Caller(
  () => connectOwn(OWN_PORT),
  () => {
    // The browser ends a background that has nothing to do, as without a native host. The button starts it again.
    showBridge({ state: "idle" });
    return new CodedError("ERR_INTERNAL", "Harbor's background has ended: try again");
  },
  (type, payload: Fields) => {
    if (type === "bridge") showBridge(payload as unknown as BridgeView);
    if (type === "servers") showServers((payload as unknown as SidebarPushes["servers"]).servers);
  },
);

function showBridge({ state, message, version }: BridgeView): void {
  const words = {
    idle: "Not connected",
    connecting: "Connecting…",
    ready: `Connected, version ${version ?? ""}`,
    waiting: `${message}; trying again`,
    failed: `${message}`,
  };
  part("bridge").textContent = words[state];
  part("again").hidden = state !== "failed" && state !== "idle";
}

function showServers(servers: Server[]): void {
  const before = document.activeElement?.id;
  part("servers").replaceChildren(...servers.map(serverPart));
  // What had the focus is there again, as a new element.
  if (before !== undefined && before !== "") document.getElementById(before)?.focus();
}

function serverPart({ server_id, label, state, last_error }: Server): HTMLElement {
  const found = make("li", "server");
  const head = make("div", "label");
  const name = document.createElement("bdi");
  name.textContent = visible(label).text;
  head.append(name);
  const said = make("div", "state", state);
  said.dataset["state"] = state;
  found.append(head, said);
  if (last_error !== undefined && state !== "running") found.append(make("p", "error", visible(last_error).text));
  const buttons = make("div", "buttons");
  const runs = state === "running" || state === "starting";
  for (const action of runs ? ["stop", "restart"] : ["start"]) buttons.append(button(action, server_id, label));
  found.append(buttons);
  return found;
}

function button(action: string, server_id: string, label: string): HTMLElement {
  const made = make("button", "", `${action[0]?.toUpperCase()}${action.slice(1)}`);
  made.id = `${action} ${server_id}`;
  made.setAttribute("type", "button");
  made.setAttribute("aria-label", `${action} ${visible(label).text}`);
  made.addEventListener("click", () => void ask(action, { server_id }));
  return made;
}

async function ask(type: string, payload: Fields): Promise<void> {
  part("said").textContent = "";
  try {
    await background.call(type, payload);
  } catch (error) {
    part("said").textContent = error instanceof CodedError ? visible(error.message).text : "This did not work.";
  }
}

function make(tag: string, name: string, text = ""): HTMLElement {
  const made = document.createElement(tag);
  if (name !== "") made.className = name;
  made.textContent = text;
  return made;
}

part("again").addEventListener("click", () => void ask("try_again", {}));
void ask("try_again", {});
