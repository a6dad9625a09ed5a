// Which files a file field takes.
//
// Pure. Owns the reading of `accept`.

/** Whether a field with this `accept` takes a file, as a browser's own window would offer it. Pure. */
export function isAccepted(accept: string, { name, type }: { name: string; type: string }): boolean {
  const kinds = accept.split(",").map((kind) => kind.trim().toLowerCase()).filter((kind) => kind !== "");
  const [file, mime] = [name.toLowerCase(), type.toLowerCase()];
  const fits = (kind: string) => (kind.startsWith(".") ? file.endsWith(kind) : kind.endsWith("/*") ? mime.startsWith(kind.slice(0, -1)) : mime === kind);
  return kinds.length === 0 || kinds.some((kind) => kind === "*/*" || fits(kind));
}
