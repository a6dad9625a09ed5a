// An application as somebody would write it, by the declarations alone. `npm run check` reads it; nothing runs it.

import type { LanguageModelSession, RunEvent } from "./index.d.ts";

/** Answers a question, piece by piece. */
export async function answer(question: string, show: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { LanguageModel } = window.harbor;
  if ((await LanguageModel.availability()) === "unavailable") throw new Error("there is no model");
  const session: LanguageModelSession = await LanguageModel.create({
    initialPrompts: [{ role: "system", content: "Answer in one sentence." }],
    monitor: (m) => m.addEventListener("downloadprogress", (event) => show(`${(event as ProgressEvent).loaded}`)),
    signal,
  });
  for await (const piece of session.promptStreaming(question, { signal })) show(piece);
  session.oncontextoverflow = () => show("…");
  show(`${session.contextUsage} of ${session.contextWindow}`);
  session.destroy();
}

/** Reads an order in a tab of its own, once the person has allowed that. */
export async function order(path: string): Promise<string | undefined> {
  const { tabs, tab } = window.agent.browser;
  if (!(await window.agent.capabilities()).browser.createTabs) return undefined;
  const { id } = await tabs.create({ url: window.location.origin + path });
  try {
    return (await tab.waitForSelector(id, "#total", { timeout: 5_000 })).text;
  } finally {
    await tabs.close(id);
  }
}

/** Has the model fill in a form. */
export async function rated(text: string): Promise<number> {
  const session = await window.harbor.LanguageModel.create({ samplingMode: "most-predictable" });
  const responseConstraint = { type: "object", properties: { rating: { type: "number" } }, required: ["rating"] };
  const { rating } = JSON.parse(await session.prompt(`Rate this: ${text}`, { responseConstraint })) as { rating: number };
  return rating;
}

/** Gives the model a tool of the page's own. */
export async function withTool(): Promise<string> {
  const session = await window.harbor.LanguageModel.create({
    tools: [{ name: "now", description: "The time.", inputSchema: { type: "object" }, execute: () => new Date().toISOString() }],
  });
  return session.prompt([{ role: "user", content: [{ type: "text", value: "What time is it?" }] }]);
}

/** Text sessions, and what went wrong in them. */
export async function chat(text: string): Promise<string> {
  const { ai } = window;
  if (ai === undefined || (await ai.canCreateTextSession()) === "no") return "";
  const session = await ai.createTextSession({ systemPrompt: "Be brief.", temperature: 0.2 });
  let all = "";
  for await (const piece of session.promptStreaming(text)) {
    if (piece.type === "token") all += piece.token;
    if (piece.type === "error") throw new Error(`${piece.error.code}: ${piece.error.message}`);
  }
  return all;
}

/** A task with the person's tools. */
export async function task(text: string, tell: (event: RunEvent) => void): Promise<string> {
  await window.agent.requestPermissions({ scopes: ["model:tools", "mcp:tools.call"], reason: "To look it up" });
  for await (const event of window.agent.run({ task: text, maxToolCalls: 3 })) {
    tell(event);
    if (event.type === "final") return event.output;
    if (event.type === "error") throw new Error(event.error.message);
  }
  throw new Error("a run has an end");
}

window.addEventListener("agent-ready", async () => {
  const { model, features } = await window.agent.capabilities();
  if (model.available && features["agentRuns"]) await task("Add 20 and 22", () => undefined);
});

/** A tool of the page's own, as long as `signal` says nothing, and a run that uses it. */
export async function ownTool(signal: AbortSignal): Promise<string | undefined> {
  await document.modelContext?.registerTool({ name: "add", description: "Adds", inputSchema: { type: "object" }, execute: ({ a, b }) => a + b }, { signal });
  await window.harbor.modelContext.addTool({ name: "old", description: "Old", handler: () => window.harbor.modelContext.tools.map(({ name }) => name) });
  for await (const event of window.agent.run({ task: "Add 20 and 22", tools: [`page:${location.host}/*`] })) if (event.type === "final") return event.output;
  return undefined;
}
