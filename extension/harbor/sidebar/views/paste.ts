// The box for what a server's README says to type or to write into a settings file.
//
// Owns how what was read of it comes into the form below. Must never add anything by itself, nor leave a secret standing in the box.

import { visible } from "../../../shared/text/visible.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands } from "../hands.ts";
import { button, field } from "../parts.ts";
import { type Pasted, parsePasted } from "../pasted.ts";

const EXAMPLE = "npx -y @scope/server    or    { \"mcpServers\": … }";

/** An address that was pasted, on its way to the form of remote servers. */
let address: Extract<Pasted, { is: "remote" }> | undefined;

export function pastedAddress(): typeof address {
  return address;
}

export function pasteBox(hands: Hands): VNode {
  const { pasting } = hands.state;
  const read = ({ target }: Event) => take(hands, target as HTMLTextAreaElement);
  return h(
    "div.paste",
    { key: "paste" },
    field({ id: "paste", label: "Paste the JSON or the command from the server's README", problem: pasting?.problem }, (props) =>
      h("textarea.code", { rows: 3, spellcheck: "false", autocomplete: "off", placeholder: EXAMPLE, ...props, on: { input: read } }),
    ),
    h("div", { role: "status", id: "pasted" }, ...foundOf(hands, pasting?.found ?? [])),
  );
}

function take(hands: Hands, box: HTMLTextAreaElement): void {
  if (box.value.trim() === "") return hands.change({ pasting: undefined });
  const found = parsePasted(box.value);
  if (typeof found === "string") return hands.change({ pasting: { found: [], problem: found } });
  // It may hold a key: that is typed where secrets are.
  box.value = "";
  hands.change({ pasting: { found } });
  const [first] = found;
  if (found.length === 1 && first !== undefined) use(hands, first);
}

function foundOf(hands: Hands, found: Pasted[]): Child[] {
  const [first] = found;
  if (first === undefined) return [];
  if (found.length > 1) {
    const one = (each: Pasted) => button(visible(each.name).text, () => use(hands, each), { key: each.name, class: "small", "data-pasted": each.name });
    return [h("p", {}, `It names ${found.length} servers. Which one do you want to add?`), h("p.buttons", {}, ...found.map(one))];
  }
  const secrets = first.is === "command" ? first.secrets : [];
  return [h("p.soft", {}, secrets.length === 0 ? "Filled in below. Check it, then add it." : `Filled in below. Next you type the value of ${visible(secrets.join(", ")).text}; what was pasted is forgotten.`)];
}

/** Brings it into the form; an image and an address go where those are added. */
function use(hands: Hands, pasted: Pasted): void {
  if (pasted.is === "image") return hands.go({ at: "install", source: pasted.source });
  if (pasted.is === "remote") {
    address = pasted;
    return hands.go({ at: "new", kind: "remote" });
  }
  const { name, command, args, env, secrets } = pasted;
  fill("name", name);
  fill("command", command);
  fill("args", args.join("\n"));
  fill("env", Object.entries(env).map(([key, value]) => `${key}=${value}`).join("\n"));
  fill("secrets", secrets.join("\n"));
}

function fill(id: string, text: string): void {
  const control = document.getElementById(id) as HTMLInputElement | null;
  if (control !== null) control.value = text;
}
