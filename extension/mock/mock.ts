// The page API without Harbor, for tests of pages: the script of the extension itself, with answers from a script of the page's developer.
//
//   page ─ window.agent, ai, LanguageModel, harbor ─► web-agents-api/page ─ port ─► pages.ts ─► here (harbor.ts) ─► harborMock.answer({…})
//
// Owns `window.harborMock`, and nothing else that pages see: what the extension has, this has. Must never be loaded by the extension, or
// take its place where it is.

// First: it waits for the port that is handed over below.
import "../web-agents-api/page/injected.ts";
import { passable } from "../web-agents-api/carrier.ts";
import { forms } from "../web-agents-api/forms.ts";
import { Gestures } from "../web-agents-api/gesture.ts";
import { parseFlags } from "../web-agents-api/flags.ts";
import { handlerFor } from "../web-agents-api/pages.ts";
import type { Port } from "../shared/browser/api.ts";
import { isPageOrigin } from "../shared/origins/origin.ts";
import { answer } from "../shared/ports/answerer.ts";
import type { Caller } from "../shared/ports/caller.ts";
import { CHANNEL, FORM_REQUESTS, PAGE_REQUESTS } from "../shared/protocol/page.ts";
import { CodedError } from "../shared/protocol/codes.ts";
import type { HarborMock } from "../types/mock.d.ts";
import { MockHarbor } from "./harbor.ts";

const MOST_OPEN = 64;

const harbor = new MockHarbor();
const gestures = new Gestures();
let asked = 0;

/** The number of the person's last click; where none is needed, or this browser knows of none, there is always a new one. */
function gestureNow(): number {
  const activation = (navigator as { userActivation?: UserActivation }).userActivation;
  asked += 1;
  return harbor.script.clicks === false || activation === undefined ? asked : gestures.last(activation.isActive, performance.now());
}

/** Serves the page as the extension does. */
function serve({ port1, port2 }: MessageChannel): void {
  const page: Port = {
    name: CHANNEL,
    sender: {},
    post: (message) => port1.postMessage(message),
    onMessage: (listener) => void (port1.onmessage = ({ data }) => listener(data)),
    onDisconnect: () => undefined,
    disconnect: () => port1.close(),
  };
  const origin = isPageOrigin(location.origin) ? location.origin : "http://localhost";
  const flags = async () => parseFlags(harbor.script.features);
  const handle = handlerFor({ origin, tab: 0, frame: 0, document: "mock" }, harbor as Pick<Caller, "call">, flags, async () => undefined, async () => void harbor.asked.push({ type: "open_settings" }));
  answer(
    page,
    async (type, payload, context) => {
      if (FORM_REQUESTS.some((one) => one === type)) return forms(type, payload, context);
      const known = PAGE_REQUESTS.find((one) => one === type);
      if (known === undefined) throw new CodedError("ERR_INVALID_REQUEST", "there is no request of this type");
      return handle(known, { ...passable(payload), gesture: gestureNow() }, context);
    },
    { open: MOST_OPEN },
  );
  document.dispatchEvent(new MessageEvent(CHANNEL, { data: "1", ports: [port2] }));
}

if ("harbor" in (window as object)) console.warn("Harbor's extension is in this page: its mock is not used");
else {
  for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, () => gestures.happened(performance.now()), { capture: true });
  const mock: HarborMock = {
    answer: (script) => void (harbor.script = { ...harbor.script, ...script }),
    asked: harbor.asked,
    reset: () => harbor.reset(),
  };
  window.harborMock = mock;
  serve(new MessageChannel());
}
