import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** How far from the visible part something already counts as in sight. */
const AROUND = "320px";

/** Whether an element is in sight or close to it. */
export function useInSight<T extends Element>(): readonly [RefObject<T | null>, boolean] {
  const place = useRef<T>(null);
  const [isInSight, setInSight] = useState(false);
  useEffect(() => {
    // Browsers that do not know the margin of scrolled parts find them a little later.
    const options = { rootMargin: AROUND, scrollMargin: AROUND };
    const observer = new IntersectionObserver((entries) => setInSight(entries.at(-1)!.isIntersecting), options);
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return [place, isInSight];
}
