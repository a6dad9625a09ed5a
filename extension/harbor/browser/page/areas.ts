// Areas of image maps: they have no box of their own, and are pointed at in the picture that uses their map.
//
// Must never give a place outside of the picture.

import type { Offset } from "./commands.ts";

/** The picture that shows an area, if one does. */
export function pictureOf(area: HTMLAreaElement): HTMLImageElement | undefined {
  const map = area.closest("map");
  const names = map === null ? [] : [map.name, map.id].filter((name) => name !== "");
  return [...document.images].find((image) => names.some((name) => image.useMap === `#${name}`) && image.checkVisibility());
}

/** Where an area is pointed at, from the upper left corner of its picture. */
export function placeOf(area: HTMLAreaElement, { width, height }: { width: number; height: number }): Offset {
  const numbers = area.coords.split(/[\s,;]+/).filter((text) => text !== "").map(Number.parseFloat);
  const { x, y } = middleOf(area.shape.toLowerCase(), numbers) ?? { x: width / 2, y: height / 2 };
  return { x: Math.min(Math.max(x, 0), width - 1), y: Math.min(Math.max(y, 0), height - 1) };
}

/** The middle of a shape, as a map has them; nothing for the rest of a picture. Pure. */
export function middleOf(shape: string, numbers: number[]): Offset | undefined {
  const [a = 0, b = 0, c = 0, d = 0] = numbers;
  if (shape === "default") return undefined;
  if (shape.startsWith("circ")) return { x: a, y: b };
  if (!shape.startsWith("poly")) return { x: (a + c) / 2, y: (b + d) / 2 };
  const corners = Array.from({ length: Math.floor(numbers.length / 2) }, (_, at) => ({ x: numbers[2 * at] ?? 0, y: numbers[2 * at + 1] ?? 0 }));
  const sum = (of: (corner: Offset) => number) => corners.reduce((all, corner) => all + of(corner), 0) / Math.max(corners.length, 1);
  return { x: sum(({ x }) => x), y: sum(({ y }) => y) };
}
