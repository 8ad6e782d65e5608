import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

/** Returns the width of an element, which follows it. 0 until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const found = element.current;
    if (found === null) return;
    setWidth(Math.floor(found.clientWidth));
    const observer = new ResizeObserver(() => setWidth(Math.floor(found.clientWidth)));
    observer.observe(found);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Returns the height of an element, which follows it. 0 until it is known. */
export function useHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const found = element.current;
    if (found === null) return;
    setHeight(Math.floor(found.clientHeight));
    const observer = new ResizeObserver(() => setHeight(Math.floor(found.clientHeight)));
    observer.observe(found);
    return () => observer.disconnect();
  }, []);
  return height;
}

const narrow = matchMedia("(max-width: 760px)");

/** Whether the window is too narrow for two panes. */
export function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const read = (): void => setNarrow(narrow.matches);
    narrow.addEventListener("change", read);
    return () => narrow.removeEventListener("change", read);
  }, []);
  return isNarrow;
}
