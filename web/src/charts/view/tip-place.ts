/** The sides of a rectangle in pixels of the window. */
export type Sides = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

/** Pixels between what is pointed at and its values, and between these and the edge of the window. */
const GAP = 14;
const EDGE = 4;

/**
 * Returns where the values of what is pointed at are shown: right of it or left of it, where there is room, else above or below it. So they never cover it
 * and are within the window as far as they fit into it.
 */
export function tipPlace(
  pointed: Sides,
  size: { readonly width: number; readonly height: number },
  window: { readonly width: number; readonly height: number },
): { readonly left: number; readonly top: number } {
  const within = (at: number, length: number, room: number): number =>
    Math.max(EDGE, Math.min(at, room - length - EDGE));
  const middle = (pointed.top + pointed.bottom) / 2;
  const level = within(middle - size.height / 2, size.height, window.height);
  if (pointed.right + GAP + size.width + EDGE <= window.width) return { left: pointed.right + GAP, top: level };
  if (pointed.left - GAP - size.width >= EDGE) return { left: pointed.left - GAP - size.width, top: level };
  const left = within((pointed.left + pointed.right - size.width) / 2, size.width, window.width);
  const above = pointed.top - GAP - size.height;
  return { left, top: above >= EDGE ? above : Math.min(pointed.bottom + GAP, window.height - size.height - EDGE) };
}
