// The sample pages with the mock in place of the extensions.
//
// Owns its script: a model that says what the one of echo.ts says, and the double's tool. Must never change the pages.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { sample } from "./samples.ts";
import type { Answers } from "./site.ts";

const SCRIPT = `harborMock.answer({
  tools: { "t/life": { call: () => "life-7" } },
  features: { browserInteraction: true },
  tabs({ act, selector }) {
    if (selector === "#word") throw Object.assign(new Error("a secret field"), { code: "ERR_PERMISSION_DENIED" });
    return act === "readability" ? { url: location.href, title: document.title, text: "Harbor reads this page" } : undefined;
  },
  model({ prompt, messages, tools, schema }) {
    if (prompt.includes("<roles>")) return messages.map(({ role }) => role).join(" ");
    if (prompt.includes("<hang>")) return (async function* () { yield "and"; await new Promise(() => {}); })();
    const said = /<say ([^]*)>/.exec(prompt)?.[1];
    if (said !== undefined) return said;
    const call = "<GenerateSimpleToolCalls>";
    if (!prompt.includes(call) || tools.length === 0) return prompt;
    return { text: prompt.replace(call, ""), calls: [{ name: tools[0].name, arguments: { input: "text" } }] };
  },
});`;

/** The files of extension/demo, each with the mock before its own script. */
export const mocked: Answers = (path) => {
  if (path === "/harbor-mock.js") return { html: readFileSync(join(__ROOT__, "dist/mock/harbor-mock.js"), "utf8"), headers: { "content-type": "text/javascript" } };
  const { html, ...more } = sample(path);
  return { html: html.replace("<head>", `<head><script src="/harbor-mock.js"></script><script>${SCRIPT}</script>`), ...more };
};
