// Lists of our own, without the methods that a page can replace.
//
// Pure. Must never call a method of an array, or iterate in a way that asks Array.prototype.

import { apply, isArray, iterator, isObject } from "./builtins.ts";

/** Puts a value at the end. */
export function add<T>(list: T[], value: T): void {
  list[list.length] = value;
}

/** A list of what two lists hold. */
export function joined<T>(one: readonly T[], other: readonly T[]): T[] {
  const all: T[] = [];
  for (let at = 0; at < one.length; at += 1) add(all, one[at] as T);
  for (let at = 0; at < other.length; at += 1) add(all, other[at] as T);
  return all;
}

/** What `make` makes of each. */
export function mapped<T, R>(list: readonly T[], make: (value: T, at: number) => R): R[] {
  const all: R[] = [];
  for (let at = 0; at < list.length; at += 1) add(all, make(list[at] as T, at));
  return all;
}

/** The place of the first that is so; -1: there is none. */
export function placeOf<T>(list: readonly T[], is: (value: T) => boolean): number {
  for (let at = 0; at < list.length; at += 1) if (is(list[at] as T)) return at;
  return -1;
}

/** What a page gives where a sequence is expected, as a list; `undefined`: it is none. */
export function sequence(value: unknown): unknown[] | undefined {
  if (isArray(value)) return mapped(value, (one: unknown) => one);
  if (!isObject(value)) return undefined;
  const begin = (value as { [iterator]?: unknown })[iterator];
  if (typeof begin !== "function") return undefined;
  const source = apply(begin, value, []) as Iterator<unknown>;
  const all: unknown[] = [];
  for (;;) {
    const { done, value: next } = source.next();
    if (done) return all;
    add(all, next);
  }
}
