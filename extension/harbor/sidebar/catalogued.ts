// Which servers here are those of an entry of the catalog.
//
// Pure. Must never go by a name that a person has chosen: only by what a server is made of.

import { isFields } from "../../shared/ports/wire.ts";
import type { CatalogDetails, Server } from "../../shared/protocol/generated/messages.ts";

/** How an entry can be had. */
export type Ways = Pick<CatalogDetails, "packages" | "remotes">;

/** The ids of the servers that are had in one of these ways. */
export function installedAs({ packages, remotes }: Ways, servers: Server[]): string[] {
  const wanted = [...objects(packages).map(packageOf), ...objects(remotes).map(({ url }) => url)];
  return servers.filter((server) => sourcesOf(server).some((source) => wanted.includes(source))).map(({ server_id }) => server_id);
}

const objects = (list: unknown) => (Array.isArray(list) ? list.filter(isFields) : []);

function packageOf({ registryType: kind, identifier }: { [name: string]: unknown }): string | undefined {
  return typeof kind === "string" && typeof identifier === "string" ? named(kind, identifier) : undefined;
}

/** PyPI takes `-`, `_` and `.` for the same, and so do capital and small letters. */
const named = (kind: string, name: string): string => `${kind} ${kind === "pypi" ? name.toLowerCase().replace(/[-_.]+/g, "-") : name}`;

/** What a server is made of: of a package that is not locked yet it is not said from where. */
function sourcesOf({ package: locked, image, remote }: Server): string[] {
  if (remote !== undefined) return [remote.url];
  if (image !== undefined) return [named("oci", image.reference.replace(/@.*$/, "").replace(/:[^:/]*$/, ""))];
  if (locked === undefined) return [];
  const [, name = locked, sign] = /^(.+?)(==|@)[^@]+$/.exec(locked) ?? [];
  return [sign === "@" ? [] : named("pypi", name), sign === "==" ? [] : named("npm", name)].flat();
}
