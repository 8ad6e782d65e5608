/** Pixels between a part and the popup next to it, and from the edge of the window. */
const GAP = 4;

/** Places a popover below an element, or above it where there is more room, and within the window. */
export function placeBeside(popover: HTMLElement, element: HTMLElement, align: "start" | "end" = "start"): void {
  const around = element.getBoundingClientRect();
  const { width, height } = popover.getBoundingClientRect();
  const below = innerHeight - around.bottom;
  const top =
    below < height + GAP && around.top > below ? Math.max(GAP, around.top - height - GAP) : around.bottom + GAP;
  const wanted = align === "start" ? around.left : around.right - width;
  const left = Math.max(GAP, Math.min(wanted, innerWidth - width - GAP));
  Object.assign(popover.style, { top: `${top}px`, left: `${left}px` });
}
