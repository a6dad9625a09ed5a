// A file for the person: saved where the browser saves downloads.
//
// Owns the way there. Must never read one.

/** Saves a text under a name. */
export function saveFile(name: string, type: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  // The browser has read it by the time that anything else runs.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
