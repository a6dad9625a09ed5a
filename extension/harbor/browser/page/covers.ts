// Where in the window stands what a picture for a page must not show: frames of others, and secret fields.
//
// Owns these boxes, of this document and of the frames in it that are its own. Must never look into a document of another origin.

import type { Box } from "./commands.ts";
import { isSecret } from "./roles.ts";
import { rootOf } from "./tree.ts";

/** So many are told; where there are more, the page is nothing to take a picture of. */
export const MOST_COVERS = 500;

interface Place {
  left: number;
  top: number;
  scaleX: number;
  scaleY: number;
}

const WINDOW: Place = { left: 0, top: 0, scaleX: 1, scaleY: 1 };

/** In pixels of the window. */
export function covers(): Box[] {
  const found: Box[] = [];
  collect(document, WINDOW, found);
  return found;
}

function collect(root: Document | ShadowRoot, at: Place, found: Box[]): void {
  for (const element of root.querySelectorAll("*")) {
    if (found.length > MOST_COVERS) return;
    const shadow = rootOf(element);
    if (shadow !== null) collect(shadow, at, found);
    const inner = documentIn(element);
    if (inner !== null && inner !== undefined) collect(inner, placeIn(element as HTMLElement, at), found);
    else if (inner === null || isSecret(element)) add(element, at, found);
  }
}

/** The frames of this document that show one of another origin. */
export function foreignFrames(root: Document | ShadowRoot = document): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>("*")].flatMap((element) => {
    const shadow = rootOf(element);
    return [...(shadow === null ? [] : foreignFrames(shadow)), ...(documentIn(element) === null ? [element] : [])];
  });
}

/** The document in a frame: null where it is another origin's, undefined where the element is no frame. */
function documentIn(element: Element): Document | null | undefined {
  if (!/^(iframe|frame|object|embed|fencedframe|portal)$/.test(element.localName)) return undefined;
  return (element as Partial<HTMLIFrameElement>).contentDocument ?? null;
}

function placeIn(frame: HTMLElement, at: Place): Place {
  const { x, y, width, height } = frame.getBoundingClientRect();
  // A frame may be drawn larger or smaller than it is laid out.
  const [scaleX, scaleY] = [(width / frame.offsetWidth || 1) * at.scaleX, (height / frame.offsetHeight || 1) * at.scaleY];
  return { left: at.left + x * at.scaleX + frame.clientLeft * scaleX, top: at.top + y * at.scaleY + frame.clientTop * scaleY, scaleX, scaleY };
}

function add(element: Element, { left, top, scaleX, scaleY }: Place, found: Box[]): void {
  const { x, y, width, height } = element.getBoundingClientRect();
  if (width > 0 && height > 0) found.push({ x: left + x * scaleX, y: top + y * scaleY, width: width * scaleX, height: height * scaleY });
}
