// The models that Harbor has itself: files that it fetches, and the programs that run them on this machine.
//
// Owns the card. Must never name a program to the bridge: a path to one takes a command.

import type { Engine, ModelFile } from "../../../shared/protocol/generated/messages.ts";
import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, command, failure, field, oneLine } from "../parts.ts";
import { know, loadProviders } from "./reading.ts";

const READ = "own models";
export const FETCH = "fetch model";

const GB = 1_000_000_000;

/** How much of a file has come. */
export interface Fetched {
  progress: number;
  total?: number;
}

export function loadOwn(hands: Hands, left?: AbortSignal): void {
  hands.read(READ, async (signal) => know(hands, { own: (await hands.ask("llm_setup_status", {}, { signal })).status }), left);
}

/** The card. */
export function ownModels(hands: Hands): Child[] {
  const { own } = hands.state.providers;
  if (own === undefined) return [failure(hands, READ)];
  const { files, engines, memory_bytes: memory } = own;
  const free = memory === undefined ? undefined : h("p.soft", {}, `${gigabytes(memory)} of memory are free for models.`);
  return [
    files.length === 0 ? undefined : h("ul.rows", { key: "files" }, ...files.map((file) => fileRow(hands, file, engines.find(({ file: path }) => path.endsWith(`/${file.modelId}`)), memory))),
    free,
    failure(hands, READ),
    fetchPart(hands),
  ];
}

function fileRow(hands: Hands, { modelId: id, bytes, memory_bytes: takes }: ModelFile, engine: Engine | undefined, memory: number | undefined): VNode {
  const runs = engine?.state === "running" || engine?.state === "starting";
  const shown = visible(id).text;
  const act = (words: string, work: () => Promise<unknown>) =>
    button(words, () => hands.act(`own ${id}`, async () => {
      await work().finally(() => loadOwn(hands));
      loadProviders(hands);
    }), { class: "small", "aria-label": `${words} ${shown}`, busy: hands.isBusy(`own ${id}`) });
  const fits = memory !== undefined && !runs && takes > memory ? h("p.soft", {}, `It takes about ${gigabytes(takes)} of memory, more than is free.`) : undefined;
  return h(
    "li",
    { key: id, "data-model": id },
    h(
      "div.provider",
      {},
      h("div.what", {}, h("p.name", {}, oneLine(id)), h("p.soft", {}, `${gigabytes(bytes)} · ${runs ? "runs" : "does not run"}`)),
      runs && engine !== undefined ? act("Stop", () => hands.ask("llm_stop_local", { provider_id: engine.provider })) : act("Start", () => hands.ask("llm_start_local", { model_id: id })),
      engine === undefined ? act("Delete", () => hands.ask("llm_delete_model", { model_id: id })) : undefined,
    ),
    fits,
    failure(hands, `own ${id}`),
  );
}

/** The form, or how far the file is that is fetched. */
function fetchPart(hands: Hands): VNode {
  const { fetched } = hands.state.providers;
  if (hands.isBusy(FETCH)) return h("div", { key: "fetch" }, bar(fetched), button("Cancel", () => hands.cancel(FETCH), { class: "small" }));
  const submit = (event: Event) => {
    event.preventDefault();
    const input = (name: string) => (event.currentTarget as HTMLFormElement).elements.namedItem(name) as HTMLInputElement;
    const [url, sha256] = [input("url").value.trim(), input("sha256").value.trim()];
    fetchModel(hands, url, sha256);
  };
  const text = (name: string, placeholder: string, needed: boolean) => (props: { [name: string]: unknown }) =>
    h("input", { type: "text", name, autocomplete: "off", spellcheck: "false", placeholder, required: needed, ...props });
  return h(
    "details",
    { key: "fetch" },
    h("summary", {}, "Fetch a model"),
    h(
      "form",
      { on: { submit }, "aria-label": "Fetch a model" },
      field({ id: "model-url", label: "Address", about: "Of a GGUF file or a llamafile; or ollama:NAME.", needed: true }, text("url", "https://…/model.gguf", true)),
      field({ id: "model-sha256", label: "SHA-256", about: "Whoever offers the file shows it. Ollama checks by itself." }, text("sha256", "64 digits", false)),
      h("p.buttons", {}, h("button", { type: "submit" }, "Fetch")),
    ),
    failure(hands, FETCH),
    h("p.soft", {}, "A GGUF file needs llama-server on this machine. Another engine is named by a command:"),
    command("harbor models start NAME --engine PATH", hands),
  );
}

/** Fetches a model; what has come of a file stays when this is cancelled. */
export function fetchModel(hands: Hands, url: string, sha256: string): void {
  hands.act(FETCH, async (signal) => {
    know(hands, { fetched: undefined });
    const onProgress = (progress: unknown) => know(hands, { fetched: progress as Fetched });
    const asked = { model_id: url, ...(sha256 === "" ? {} : { sha256 }), progress: true };
    const { message } = await hands.ask("llm_download_model", asked, { signal, onProgress });
    loadOwn(hands);
    hands.say(message);
  });
}

function bar(fetched: Fetched | undefined): VNode {
  const { progress = 0, total } = fetched ?? {};
  const known = total === undefined ? {} : { max: total, value: String(progress) };
  return h("p", {}, h("progress", { "aria-label": "Fetched", ...known }), ` ${gigabytes(progress)}${total === undefined ? "" : ` of ${gigabytes(total)}`}`);
}

export function gigabytes(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`;
}
