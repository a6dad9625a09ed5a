// The secrets of a server: which are set, which are missing; and signing in where it is remote.
//
// Must never show or keep a value: it goes from its field to the background, and the field is empty before the answer.

import type { CredentialStatus, Server } from "../../../shared/protocol/generated/messages.ts";
import { openTab } from "../../../shared/browser/api.ts";
import { CodedError } from "../../../shared/protocol/codes.ts";
import { type Child, type VNode, h } from "../dom.ts";
import type { Hands, View } from "../hands.ts";
import { button, empty, facts, failure, field, foreign, notice, waiting } from "../parts.ts";
import type { Route } from "../route.ts";
import { timeWords } from "../words.ts";
import { ofServer } from "./head.ts";

type Here = Extract<Route, { at: "server" }>;

export const secrets: View<Here> = {
  title: (_, { id }) => `Secrets of ${id}`,
  enter(hands, { id }, signal) {
    hands.act(`secrets ${id}`, (mine) => load(hands, id, mine), signal);
  },
  show: (hands, { id }) =>
    ofServer(hands, id, "secrets", (server) => {
      const { credentials } = hands.state.detail ?? {};
      // All at once, so that nothing moves down under a hand that is about to type a secret.
      if (credentials !== undefined) return [...signing(hands, server), ...keys(hands, server, credentials)];
      return [failure(hands, `secrets ${id}`), hands.isBusy(`secrets ${id}`) ? waiting("Loading…") : undefined];
    }),
};

async function load(hands: Hands, id: string, signal?: AbortSignal): Promise<void> {
  const { server } = await hands.ask("get_server_status", { server_id: id }, { signal });
  const [{ status }, { credentials }, { authorization = "none" }] = await Promise.all([
    hands.ask("get_credential_status", { server_id: id }, { signal }),
    hands.ask("list_credentials", { server_id: id }, { signal }),
    server.remote === undefined ? { authorization: undefined } : hands.ask("oauth_status", { server_id: id }, { signal }),
  ]);
  const kinds = Object.fromEntries(credentials.map(({ key, credential_type }) => [key, credential_type]));
  hands.learn(id, { credentials: status, kinds, authorization });
  hands.change({ missing: { ...hands.state.missing, [id]: status.missing } });
}

function keys(hands: Hands, server: Server, { configured, missing, expired }: CredentialStatus): Child[] {
  const known = [...new Set([...missing, ...configured])].filter((key) => key !== "OAUTH");
  return [
    h("h3", {}, "Keys and passwords"),
    h("p.soft", {}, "Values are never shown. The server gets a new value at its next start."),
    known.length === 0 ? empty("Nothing is set.") : undefined,
    h("ul.rows.secrets", {}, ...known.map((key) => row(hands, server, key, missing.includes(key), expired.includes(key)))),
    h("details", {}, h("summary", {}, "Set another key"), other(hands, server)),
  ];
}

function row(hands: Hands, server: Server, key: string, isMissing: boolean, hasExpired: boolean): VNode {
  const { server_id: id } = server;
  // What its definition asks for is a variable, whatever is filled with it.
  const kind = isMissing ? "api_key" : hands.state.detail?.kinds?.[key];
  const words = isMissing ? "not set" : hasExpired ? "expired" : "set";
  const remove = () =>
    hands.act(`delete ${id} ${key}`, async () => {
      await hands.ask("delete_credential", { server_id: id, key });
      hands.say(`${key} is deleted`);
      await load(hands, id);
    });
  return h(
    "li",
    { key, "data-secret": key },
    h("p.standing", { "data-tone": isMissing || hasExpired ? "warn" : "good" }, h("span.name.mono", {}, key), h("span.words", {}, ` · ${words}`)),
    h(
      "div.beside-it",
      {},
      kind === "api_key" || kind === "header"
        ? valueForm(hands, server, { key, kind }, isMissing ? "Set" : "Replace")
        : h("p.soft", {}, "To replace it: ", h("code", {}, `harbor secrets set ${id} ${key} --type ${kind}`)),
      isMissing ? undefined : button("Delete", remove, { class: "quiet danger", "aria-label": `Delete ${key}`, busy: hands.isBusy(`delete ${id} ${key}`) }),
    ),
    failure(hands, `delete ${id} ${key}`),
  );
}

interface Secret {
  key: string;
  kind: "api_key" | "header";
}

function valueForm(hands: Hands, server: Server, secret: Secret, words: string): VNode {
  const { key } = secret;
  const act = `set ${server.server_id} ${key}`;
  const submit = (event: Event) => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem("value") as HTMLInputElement;
    const { value } = input;
    input.value = "";
    if (value !== "") set(hands, server, act, secret, value);
  };
  const props = { type: "password", name: "value", autocomplete: "off", "aria-label": `Value of ${key}`, placeholder: "Value" };
  return h(
    "form.inline",
    { on: { submit } },
    h("input", props),
    h("button", { type: "submit", "aria-label": `${words} ${key}`, "aria-disabled": hands.isBusy(act) ? "true" : undefined }, words),
    failure(hands, act),
  );
}

function other(hands: Hands, server: Server): VNode {
  const act = `set ${server.server_id}`;
  const kind = server.remote === undefined ? "api_key" : "header";
  const submit = (event: Event) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const of = (name: string) => form.elements.namedItem(name) as HTMLInputElement;
    const [key, value] = [of("key").value.trim(), of("value").value];
    of("value").value = "";
    if (key !== "" && value !== "") set(hands, server, act, { key, kind }, value);
  };
  const about = kind === "api_key" ? "The environment variable's name." : "The name of the HTTP header that is sent with each request, such as Authorization.";
  return h(
    "form",
    { on: { submit } },
    field({ id: "secret-key", label: "Name", about }, (props) => h("input", { type: "text", name: "key", autocomplete: "off", spellcheck: "false", ...props })),
    field({ id: "secret-value", label: "Value" }, (props) => h("input", { type: "password", name: "value", autocomplete: "off", ...props })),
    h("p.buttons", {}, h("button", { type: "submit" }, "Set")),
    failure(hands, act),
  );
}

/** Sets what is typed on the first page; `complete`: nothing is missing any more. */
export function saveSecrets(hands: Hands, { server_id }: Server, act: string, given: (readonly [key: string, value: string])[], complete: () => void): void {
  if (given.length === 0) return;
  hands.act(act, async () => {
    for (const [key, value] of given) await hands.ask("set_credential", { server_id, key, value, credential_type: "api_key" });
    await load(hands, server_id);
    if (hands.state.missing[server_id]?.length === 0) complete();
    else hands.say("Saved. Another key is still missing.");
  });
}

function set(hands: Hands, { server_id }: Server, act: string, { key, kind }: Secret, value: string): void {
  hands.act(act, async () => {
    const { running } = await hands.ask("set_credential", { server_id, key, value, credential_type: kind });
    hands.say(running ? `${key} is set. Restart the server to use it.` : `${key} is set`);
    await load(hands, server_id);
  });
}

/** Signing in, of a remote server. */
function signing(hands: Hands, server: Server): Child[] {
  if (server.remote === undefined) return [];
  const wants = server.state !== "running" && server.last_exit?.cause === "needs_authorization";
  const { authorization } = hands.state.detail ?? {};
  const known = authorization === "none" ? undefined : authorization;
  return [
    h("h3", {}, "Signing in"),
    wants ? notice("warn", h("p", {}, "Sign in to this server, and choose there what Harbor may do.")) : undefined,
    known === undefined ? (wants ? undefined : h("p.soft", {}, "You are not signed in.")) : signedIn(known),
    ...signInOf(hands, server),
  ];
}

/** The button that signs in, and what is under way. */
export function signInOf(hands: Hands, { server_id: id, state, last_exit }: Server): Child[] {
  const { authorization, signIn } = hands.state.detail ?? {};
  const act = `sign in ${id}`;
  const isIn = authorization !== undefined && authorization !== "none";
  const wants = state !== "running" && last_exit?.cause === "needs_authorization";
  // Either the page is open, or the button is there: never neither.
  const isOpen = hands.isBusy(act) && signIn !== undefined;
  const begins = () => button(isIn ? "Sign in again…" : "Sign in…", () => begin(hands, id, act), { id: "sign-in", class: wants ? "primary" : undefined, key: "in", busy: hands.isBusy(act) });
  const ends = () => button("Sign out", () => revoke(hands, id), { id: "sign-out", class: "quiet danger", key: "out", busy: hands.isBusy(`revoke ${id}`) });
  return [
    isOpen ? underWay(hands, act, signIn) : undefined,
    h("p.buttons", {}, isOpen ? undefined : begins(), isIn ? ends() : undefined),
    failure(hands, act),
    failure(hands, `revoke ${id}`),
  ];
}

function signedIn({ issuer, scopes, granted_at, is_expired }: Exclude<NonNullable<NonNullable<Hands["state"]["detail"]>["authorization"]>, "none">): VNode {
  return facts([
    ["Signed in", timeWords(granted_at)],
    ["At", foreign(issuer)],
    ["Harbor may", foreign(scopes.join(", "))],
    is_expired ? ["State", "expired: sign in again"] : undefined,
  ]);
}

function underWay(hands: Hands, act: string, url: string): VNode {
  return notice(
    "busy",
    h("p", {}, "A page is open: sign in there within five minutes."),
    h("p.soft", {}, foreign(new URL(url).origin)),
    h("p.buttons", {}, button("Open it again", () => openTab(url)), button("Cancel", () => hands.cancel(act), { id: "cancel" })),
  );
}

function begin(hands: Hands, id: string, act: string): void {
  hands.act(act, async (signal) => {
    try {
      const { authorization_url: url } = await hands.ask("oauth_start", { server_id: id }, { signal });
      if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new CodedError("ERR_PROTOCOL_ERROR", "it names no page to sign in at");
      hands.learn(id, { signIn: url });
      openTab(url);
      const { authorization } = await hands.ask("oauth_finish", { server_id: id }, { signal });
      hands.learn(id, { authorization });
      hands.say("You are signed in");
    } finally {
      hands.learn(id, { signIn: undefined });
    }
  });
}

function revoke(hands: Hands, id: string): void {
  hands.act(`revoke ${id}`, async () => {
    const { told, why } = await hands.ask("oauth_revoke", { server_id: id });
    hands.learn(id, { authorization: "none" });
    hands.say(told ? "You are signed out" : `You are signed out here. The server could not be told${why === undefined ? "" : `: ${why}`}`);
  });
}
