import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** The time, updated every second while something on the visible page grows older. Only components that read it are drawn again. */
export function useClock(isTicking: boolean): ReadonlySignal<number> {
  const now = useSignal(Date.now());
  useEffect(() => {
    if (!isTicking) return undefined;
    now.value = Date.now();
    const timer = setInterval(() => {
      if (!document.hidden) now.value = Date.now();
    }, 1000);
    return () => clearInterval(timer);
  }, [isTicking]);
  return now;
}
