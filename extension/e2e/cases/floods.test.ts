// A server that says how far it is more often than anybody can look: the page stays its own, and gets the result.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { PACE_MS } from "../../harbor/pace.ts";
import { allowed } from "../driver/double.ts";
import { type World, inBrowsers } from "../driver/world.ts";

const TIMES = 20_000;

/** Calls, and counts what the page is told meanwhile; its own clock says how long it could do nothing else. */
const FLOODED = `
  const seen = [];
  const began = performance.now();
  let [last, longest] = [began, 0];
  const beat = () => {
    const now = performance.now();
    [last, longest] = [now, Math.max(longest, now - last)];
  };
  const beating = setInterval(beat, 10);
  const call = shown(agent.tools.call({ tool: "t/flood", args: { times: ${TIMES} }, onProgress: ({ progress }) => seen.push(progress) }));
  const other = await shown(agent.permissions.list());
  const { value, message } = await call;
  clearInterval(beating);
  beat();
  return { text: value?.content[0].text ?? message, seen, ms: performance.now() - began, longest, other: other.value?.origin };
`;

interface Flooded {
  text: string;
  seen: number[];
  ms: number;
  longest: number;
  other: string;
}

for (const inBrowser of inBrowsers) {
  describe(inBrowser.name, () => {
    test("a flood of progress is thinned: the page is told the newest now and then, stays responsive, and gets the result", () =>
      inBrowser.run(async (world: World) => {
        const page = await allowed(world);
        const { text, seen, ms, longest, other } = (await page.run(FLOODED)) as Flooded;
        assert.deepEqual([text, other], ["done", world.site.origin]);
        // The first, one for each interval, and the last with the result.
        assert.ok(seen.length <= ms / PACE_MS + 2, `${seen.length} in ${ms} ms`);
        assert.deepEqual([seen[0], seen.at(-1)], [1, TIMES]);
        assert.deepEqual(seen, [...seen].sort((one, two) => one - two));
        assert.ok(longest < 1_000, `the page did nothing else for ${longest} ms`);
      }));
  });
}
