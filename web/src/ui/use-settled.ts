import { useEffect, useState } from "preact/hooks";

/** Milliseconds that a person may pause while typing. */
const TYPING_MS = 300;

/** Returns a value once it has not changed for a moment. */
export function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
