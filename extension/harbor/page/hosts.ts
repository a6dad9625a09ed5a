// Which sites the person wants kept from tools: `blocked` and `askFirst` in `[browser]` of config.toml, as the bridge has them in force.
//
// Pure. Must never call a host free that the bridge would not: the comparison is that of its own rule.

export interface Hosts {
  blocked: string[];
  askFirst: string[];
}

/** Reads the two lists in the text that `get_config` gives; `undefined`: it has none that could be read. */
export function hostsOf(config: unknown): Hosts | undefined {
  const section = typeof config === "string" ? /^\[browser\]\n([^]*?)(?=^\[|$(?![^]))/m.exec(config)?.[1] : undefined;
  const [blocked, askFirst] = ["blocked", "askFirst"].map((name) => listIn(section ?? "", name));
  return blocked === undefined || askFirst === undefined ? undefined : { blocked, askFirst };
}

function listIn(section: string, name: string): string[] | undefined {
  const written = new RegExp(`^${name} = (\\[.*\\])$`, "m").exec(section)?.[1];
  if (written === undefined) return undefined;
  try {
    const list: unknown = JSON.parse(written);
    return Array.isArray(list) && list.every((one) => typeof one === "string") ? list : undefined;
  } catch {
    return undefined;
  }
}

/** What the lists say of an address. */
export function saidOf(url: string, { blocked, askFirst }: Hosts): "blocked" | "askFirst" | undefined {
  const host = hostIn(url);
  if (blocked.some((entry) => covers(entry, host))) return "blocked";
  return askFirst.some((entry) => covers(entry, host)) ? "askFirst" : undefined;
}

/** `*.` covers the host itself and all below it. */
function covers(entry: string, host: string): boolean {
  const below = entry.startsWith("*.");
  const name = bare(below ? entry.slice(2) : entry);
  return host === name || (below && host.endsWith(`.${name}`));
}

/** A dot at the end names the same host. IPv4 that is written as IPv6 is that IPv4. */
function bare(host: string): string {
  const mapped = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(host);
  if (mapped === null) return host.replace(/\.$/, "").toLowerCase();
  const [high, low] = [Number.parseInt(mapped[1] ?? "", 16), Number.parseInt(mapped[2] ?? "", 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

const hostIn = (url: string): string => (URL.canParse(url) ? bare(new URL(url).hostname) : "");
