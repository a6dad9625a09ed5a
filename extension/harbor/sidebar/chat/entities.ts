// Characters that are written by name, as in HTML.
//
// Owns the few names that answers use; any other stays as it is written. Numbers are the lexer's.

const NAMED: { [name: string]: string } = {
  amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00A0", ensp: " ", emsp: " ", thinsp: " ",
  ndash: "–", mdash: "—", hellip: "…", bull: "•", middot: "·", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", laquo: "«", raquo: "»",
  copy: "©", reg: "®", trade: "™", deg: "°", sect: "§", para: "¶", euro: "€", pound: "£", yen: "¥", cent: "¢",
  plusmn: "±", times: "×", divide: "÷", minus: "−", ne: "≠", le: "≤", ge: "≥", asymp: "≈", equiv: "≡", infin: "∞", sum: "∑", radic: "√",
  frac12: "½", frac14: "¼", frac34: "¾", sup2: "²", sup3: "³", micro: "µ", alpha: "α", beta: "β", gamma: "γ", delta: "δ", pi: "π",
  larr: "←", rarr: "→", uarr: "↑", darr: "↓", harr: "↔", check: "✓", cross: "✗",
};

export function withCharacters(text: string): string {
  return text.includes("&") ? text.replace(/&([A-Za-z][A-Za-z0-9]{1,7});/g, (whole, name: string) => (Object.hasOwn(NAMED, name) ? NAMED[name] : undefined) ?? whole) : text;
}
