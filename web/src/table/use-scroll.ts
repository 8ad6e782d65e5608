import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { whenIdle } from "../ui/when-idle.ts";
import { hasCommon, type RowWindow } from "./windows.ts";

/** How far an element is scrolled, and how much of it is seen. */
type Scroll = { readonly top: number; readonly left: number; readonly height: number; readonly width: number };

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

/** After this time the rows around are drawn, however busy the page is. */
const LATEST_MS = 400;

/**
 * Whether a grid has time for rows that are not seen: once those that are seen are there and the browser has nothing else to do, and again
 * not after a jump to other rows.
 */
export function useIdle(seen: RowWindow, isThere: boolean): boolean {
  const before = useRef(seen);
  const jumps = useRef(0);
  if (seen.end > seen.first && before.current.end > before.current.first && !hasCommon(before.current, seen))
    jumps.current += 1;
  before.current = seen;
  const [calmAfter, setCalmAfter] = useState(-1);
  const isCalm = calmAfter === jumps.current;
  useEffect(
    () => (isThere && !isCalm ? whenIdle(() => setCalmAfter(jumps.current), LATEST_MS) : undefined),
    [jumps.current, isThere, isCalm],
  );
  return isCalm;
}
