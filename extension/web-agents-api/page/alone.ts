// What a page has without Harbor: what the browser could do for it by itself.
//
// Owns what `capabilities()` says then. No grant is asked for, and none is kept. Must never answer for Harbor while it is there, and what
// the person has switched off stays off.

import { ask } from "./channel.ts";
import { failure } from "./errors.ts";
import { placeOf } from "./lists.ts";
import { nativeWord } from "./native_model.ts";
import { callOwn, ownTools } from "./own_tools.ts";
import { NOBODY } from "../../shared/protocol/page.ts";

interface Found {
  harbor: { connected: boolean; code?: string; message?: string };
  tools: { available: boolean; count: number; servers: string[] };
  model: { available: boolean };
  features: { [feature: string]: boolean };
}

/** Whether nobody was there to answer. */
export const isAlone = (error: unknown): boolean => placeOf(NOBODY, (code) => code === (error as { code?: unknown } | null)?.code) >= 0;

/** What works now, with Harbor or without. */
export async function capabilities(): Promise<Found> {
  const found = (await ask("capabilities")) as Found;
  if (found.harbor.connected) return found;
  const { features } = found;
  const word = features["textGeneration"] ? await nativeWord() : "no";
  features["textGeneration"] = word !== "no";
  features["agentRuns"] = false;
  features["browserInteraction"] = features["screenshots"] = features["browserControl"] = false;
  found.model = { available: word === "readily" };
  const tools = features["pageTools"] ? await ownTools() : [];
  const first = tools[0];
  features["toolAccess"] = features["toolAccess"] === true && first !== undefined;
  features["toolCalling"] = features["toolCalling"] === true && first !== undefined;
  if (first !== undefined && features["toolAccess"]) found.tools = { available: true, count: tools.length, servers: [first.serverId] };
  return found;
}

/** The person's tools; without Harbor the page's own, where it has any. */
export async function listTools(): Promise<unknown> {
  try {
    return await ask("list");
  } catch (error) {
    if (!isAlone(error) || !(await capabilities()).features["toolAccess"]) throw error;
    return await ownTools();
  }
}

/** A tool of the page's own. */
export async function callAlone(tool: string, args: string, signal: AbortSignal | undefined): Promise<unknown> {
  const { harbor, features } = await capabilities();
  if (harbor.connected) throw failure("ERR_TOOL_NOT_FOUND", "with Harbor these are the person's tools; its own a page has by modelContext and agent.run");
  // Where there are no tools at all, that is why.
  if (!features["toolCalling"] && (await ownTools()).length > 0) throw failure("ERR_FEATURE_DISABLED", "the person has switched toolCalling or pageTools off");
  return await callOwn(tool, args, signal);
}
