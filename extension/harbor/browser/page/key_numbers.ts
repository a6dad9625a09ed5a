// The numbers of keys: `keyCode` and `which`, which are out of date, and which very many pages still go by.
//
// Pure. Owns the numbers: those of a US keyboard, as browsers give them.

const NAMED: { [key: string]: number } = {
  ...{ Backspace: 8, Tab: 9, Enter: 13, Shift: 16, Control: 17, Alt: 18, Pause: 19, CapsLock: 20, Escape: 27, " ": 32 },
  ...{ PageUp: 33, PageDown: 34, End: 35, Home: 36, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40 },
  ...{ Insert: 45, Delete: 46, Meta: 91, ContextMenu: 93, NumLock: 144, ScrollLock: 145 },
};

/** Keys with a sign on them, each with what it types together with Shift. */
const SIGNS: readonly (readonly [string, number])[] = [
  [";:", 186], ["=+", 187], [",<", 188], ["-_", 189], [".>", 190], ["/?", 191], ["`~", 192], ["[{", 219], ["\\|", 220], ["]}", 221], ["'\"", 222],
];
/** Above the digits, from 0 on. */
const ABOVE = ")!@#$%^&*(";

/** Of a key that goes down or up; 0 for one that has none. */
export function keyNumber(key: string): number {
  if (key === "") return 0;
  const [, nth] = /^F([1-9]|1\d|2[0-4])$/.exec(key) ?? [];
  if (nth !== undefined) return 111 + Number(nth);
  if (key.length !== 1 || key === " ") return Object.hasOwn(NAMED, key) ? (NAMED[key] ?? 0) : 0;
  if (/[a-z\d]/i.test(key)) return key.toUpperCase().charCodeAt(0);
  if (ABOVE.includes(key)) return 48 + ABOVE.indexOf(key);
  return SIGNS.find(([signs]) => signs.includes(key))?.[1] ?? 0;
}

/** Of what a key types. */
export function charNumber(key: string): number {
  return key.length === 1 ? key.charCodeAt(0) : keyNumber(key);
}
