// The tools of the conformance suite, by harbor:mcp. What each does stands in cases.txt.
import { serve } from "harbor:mcp";

let release;
const released = new Promise((resolve) => { release = resolve; });

serve({
  name: "conformance",
  version: "1.0",
  instructions: "Be kind.",
  tools: {
    greet: {
      description: "Greets",
      input: { properties: { name: { type: "string" } }, required: ["name"] },
      run: ({ name }) => `Hello, ${name}!`,
    },
    content: { run: () => [{ type: "text", text: "one" }, { type: "text", text: "two" }] },
    structured: { run: () => ({ n: 1 }) },
    nothing: { run() {} },
    fails: { run() { throw new RangeError("too far"); } },
    length: { run: ({ text }) => text.length },
    big: { run: ({ count }) => "x".repeat(count) },
    steps: {
      async run(_, { progress }) {
        for (let at = 1; at <= 3; at++) progress(at, 3, `step ${at}`);
        return "done";
      },
    },
    waits: { run: (_, { signal }) => new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason))) },
    holds: { run: () => released.then(() => "held") },
    release: {
      run() {
        release();
        return "released";
      },
    },
  },
});
