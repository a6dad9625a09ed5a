// The page beside the panel, as `web-agents-api` tells of it.
//
// Pure. Must never take what is no page's origin.

import { isPageOrigin } from "../shared/origins/origin.ts";
import { isContainer } from "../shared/origins/profile.ts";
import type { Site } from "./sidebar/site.ts";

/** Reads the answer; `undefined`: there is no page that could ask for tools. */
export function parseSite(answer: unknown): Site | undefined {
  const { site } = Object(answer) as { site?: unknown };
  const { origin, tab, profile } = Object(site) as { origin?: unknown; tab?: unknown; profile?: unknown };
  if (typeof origin !== "string" || !isPageOrigin(origin) || typeof tab !== "number" || !Number.isSafeInteger(tab)) return undefined;
  if (profile !== undefined && !isContainer(profile)) return undefined;
  return { origin, tab, ...(profile === undefined ? {} : { profile }) };
}
