// Ways in which pages hide an element and all that stands in it, with its box as it was.
//
// Owns how that is judged: by what animations end with, for in a tab that nobody looks at they stand where they begin. Must never
// count as hidden what only has not come yet.

import type { Style } from "./style.ts";

/** What is fainter than this nobody sees. */
const FAINT = 0.05;

/** An animation that ends later is judged as it stands, in milliseconds. */
const LATEST_MS = 10_000;

/** True if nothing is seen of the element and of what stands in it, by its own style. */
export function isVeiled(element: Element, style: Style): boolean {
  const { opacity, filter } = style.rest;
  if (opacity !== "1" && Number(opacity) < FAINT && !endsOf(element, "opacity").some((value) => Number(value) >= FAINT)) return true;
  if (isFiltered(filter) || isClippedAway(style)) return true;
  if (isShrunk(style) && endsOf(element, "transform").length === 0 && endsOf(element, "scale").length === 0) return true;
  // Its alternative text, and the words in it, have no place.
  return (element instanceof HTMLImageElement || element instanceof SVGSVGElement) && isWithoutSize(element);
}

function isWithoutSize(element: Element): boolean {
  const { width, height } = element.getBoundingClientRect();
  return width === 0 && height === 0;
}

const isFiltered = (filter: string): boolean => {
  if (filter === "none") return false;
  const [, amount] = /opacity\(([\d.]+)\)/.exec(filter) ?? [];
  return amount !== undefined && Number(amount) < FAINT;
};

function isClippedAway({ position, rest }: Style): boolean {
  if (position === "absolute" || position === "fixed") {
    const [top, right, bottom, left] = (/^rect\((.*)\)$/.exec(rest.clip)?.[1] ?? "").split(/[,\s]+/).map(Number.parseFloat);
    if (left !== undefined && ((right ?? 0) - left <= 1 || (bottom ?? 0) - (top ?? 0) <= 1)) return true;
  }
  const { clipPath } = rest;
  return clipPath !== "none" && clipPath !== "" && isEmptyShape(clipPath);
}

/** True for a shape that leaves nothing, as far as that can be told without the element's size. Pure. */
export function isEmptyShape(path: string): boolean {
  const [, kind, inside = ""] = /^(inset|circle|ellipse|polygon)\(([^)]*)\)/.exec(path) ?? [];
  const numbers = inside.split(/\s+at\s+|\s+round\s+/)[0]?.split(/[,\s]+/) ?? [];
  if (kind === "circle" || kind === "ellipse") return numbers.some((radius) => Number.parseFloat(radius) === 0);
  if (kind === "polygon") return new Set(numbers.filter((_, index) => index % 2 === 0)).size === 1 || new Set(numbers.filter((_, index) => index % 2 === 1)).size === 1;
  if (kind !== "inset") return false;
  const shares = numbers.map((share) => (share.endsWith("%") ? Number.parseFloat(share) : 0));
  const [top = 0, right = top, bottom = top, left = right] = shares;
  return top + bottom >= 100 || left + right >= 100;
}

/** True if it is made as small as nothing. */
const isShrunk = ({ transform, rest }: Style): boolean => (transform !== "none" && /^matrix\(0, 0, 0, 0,|^matrix3d\(0, 0, 0, 0, 0, 0, 0, 0,/.test(transform)) || /^0( 0)*$/.test(rest.scale);

/** The values of a property that the element's running animations end with; all that they pass where they never end. */
export function endsOf(element: Element, property: string): string[] {
  return element.getAnimations().flatMap((animation) => {
    const { effect, playState } = animation;
    if (!(effect instanceof KeyframeEffect) || effect.pseudoElement !== null || playState !== "running") return [];
    const values = effect.getKeyframes().flatMap((frame) => (frame[property] === undefined ? [] : [String(frame[property])]));
    const { iterations = 1, direction, endTime, delay = 0 } = effect.getComputedTiming();
    if (iterations === Number.POSITIVE_INFINITY) return delay > LATEST_MS ? [] : values;
    if (Number(endTime) > LATEST_MS) return [];
    const isBackwards = direction === "reverse" || (direction === "alternate" && iterations % 2 === 0) || (direction === "alternate-reverse" && iterations % 2 === 1);
    const last = isBackwards ? values[0] : values.at(-1);
    return last === undefined ? [] : [last];
  });
}
