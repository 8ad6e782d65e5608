import { useEffect, useState } from "preact/hooks";

/** The time, again every second while something on the page grows older and somebody sees it. */
export function useClock(isTicking: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    setNow(Date.now());
    if (!isTicking) return undefined;
    const timer = setInterval(() => !document.hidden && setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
