import { useEffect, useRef, useState } from "preact/hooks";

/** Returns a count of changes that follows another one, at most once in this time from the first drawing on: what is slow to read is read again by it. */
export function usePaced(version: number, apartMs: number): number {
  const [paced, setPaced] = useState(version);
  const changedAt = useRef(performance.now());
  useEffect(() => {
    if (version === paced) return undefined;
    const waitMs = Math.max(0, changedAt.current + apartMs - performance.now());
    const timer = setTimeout(() => {
      changedAt.current = performance.now();
      setPaced(version);
    }, waitMs);
    return () => clearTimeout(timer);
  }, [version]);
  return paced;
}
