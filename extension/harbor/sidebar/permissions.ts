// All grants of the bridge, as a person looks at them: by origin, one line for each scope and type. To see tools and to use them is one
// line where both hold in the same way.
//
// Pure. Must never leave one out: what is not shown cannot be taken back.

import type { Grant } from "../../shared/protocol/generated/messages.ts";

export interface Permission {
  /** That by which it is called first. */
  scopes: string[];
  type: string;
  /** `server/tool` or `server/*`; absent: all. */
  tools?: string[];
  /** When the first of them ends. */
  ends?: number;
  /** How many tabs they are bound to. */
  tabs: number;
  /** A denial of the same scope holds instead. */
  overridden?: true;
}

export interface Site {
  origin: string;
  profile: string;
  permissions: Permission[];
}

/** The grants by origin and profile. */
export function sitesOf(grants: Grant[]): Site[] {
  const groups = grouped(grants, ({ origin, profile }) => JSON.stringify([origin, profile]));
  return groups
    .map((group) => ({ origin: group[0]?.origin ?? "", profile: group[0]?.profile ?? "", permissions: permissionsOf(group) }))
    .sort((one, other) => compare(one.origin, other.origin) || compare(one.profile, other.profile));
}

function permissionsOf(grants: Grant[]): Permission[] {
  const groups = grouped(grants, ({ scope, grant_type }) => `${scope} ${grant_type}`);
  const found = groups.map(together).sort((one, other) => compare(one.scopes[0], other.scopes[0]) || compare(one.type, other.type));
  const denials = found.filter(isDenial);
  const others = found.filter((one) => !isDenial(one));
  const isOverridden = ({ scopes }: Permission) => denials.some((denial) => scopes.some((scope) => denial.scopes.includes(scope)));
  return merged([...denials, ...others.map((one) => (isOverridden(one) ? { ...one, overridden: true as const } : one))]);
}

const [SEE, USE] = ["mcp:tools.list", "mcp:tools.call"];

/** Grants of one answer are made one after the other: so far apart they end together. */
const TOGETHER_MS = 5_000;

/** Without a line for seeing tools where that for using them says the same. */
function merged(found: Permission[]): Permission[] {
  const seen = (use: Permission) => found.find((see) => use.scopes[0] === USE && see.scopes[0] === SEE && isAlike(see, use));
  const taken = new Set(found.map(seen));
  return found.filter((one) => !taken.has(one)).map((one) => (seen(one) === undefined ? one : { ...one, scopes: [...one.scopes, ...(seen(one)?.scopes ?? [])] }));
}

function isAlike(one: Permission, other: Permission): boolean {
  const same = (of: Permission) => JSON.stringify([of.type, of.tools, of.tabs, of.overridden]);
  return same(one) === same(other) && Math.abs((one.ends ?? 0) - (other.ends ?? 0)) < TOGETHER_MS;
}

function together(grants: Grant[]): Permission {
  const [first] = grants;
  const found: Permission = {
    scopes: [first?.scope ?? ""],
    type: first?.grant_type ?? "",
    tabs: new Set(grants.map(({ tab_id }) => tab_id).filter((tab) => tab !== undefined)).size,
  };
  if (grants.every(({ allowed_tools }) => allowed_tools !== undefined)) {
    found.tools = [...new Set(grants.flatMap(({ allowed_tools = [] }) => allowed_tools))].sort();
  }
  const ends = grants.map(({ expires_at }) => expires_at).filter((at) => at !== undefined);
  if (ends.length > 0) found.ends = Math.min(...ends);
  return found;
}

function grouped(grants: Grant[], nameOf: (grant: Grant) => string): Grant[][] {
  const groups = new Map<string, Grant[]>();
  for (const grant of grants) groups.set(nameOf(grant), [...(groups.get(nameOf(grant)) ?? []), grant]);
  return [...groups.values()];
}

function compare(one = "", other = ""): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** Denials hold over whatever else there is, and so come first. */
export function isDenial({ type }: Permission): boolean {
  return type === "DENY";
}

/** The order in which they are taken back: a denial last, or what it overrides would hold for a moment. */
export function inOrderOfEnding(permissions: Permission[]): Permission[] {
  return [...permissions.filter((one) => !isDenial(one)), ...permissions.filter(isDenial)];
}

/** How long a grant holds, in words. */
export function typeWords(type: string): string {
  if (type === "ALLOW_ALWAYS") return "always";
  if (type === "DENY") return "blocked";
  return "for now";
}
