import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

/** How far an element is scrolled, and how much of it is seen. */
export type Scroll = { readonly top: number; readonly left: number; readonly height: number; readonly width: number };

/** Nothing is visible until the size is known: content drawn for another size would be drawn twice. */
const UNKNOWN: Scroll = { top: 0, left: 0, height: 0, width: 0 };

/** Follows the scrolling and the size of an element, at most once a frame. */
export function useScroll(place: RefObject<HTMLElement | null>): Scroll {
  const [scroll, setScroll] = useState(UNKNOWN);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    let frame = 0;
    const read = (): void => {
      frame = 0;
      const { scrollTop: top, scrollLeft: left, clientHeight: height, clientWidth: width } = element;
      setScroll((before) =>
        before.top === top && before.left === left && before.height === height && before.width === width
          ? before
          : { top, left, height, width },
      );
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(read);
    };
    const sizes = new ResizeObserver(later);
    sizes.observe(element);
    element.addEventListener("scroll", later, { passive: true });
    read();
    return () => {
      cancelAnimationFrame(frame);
      sizes.disconnect();
      element.removeEventListener("scroll", later);
    };
  }, []);
  return scroll;
}
