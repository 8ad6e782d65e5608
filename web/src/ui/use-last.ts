import { useRef } from "preact/hooks";

/** Returns the last value that was there: what was shown stays until something else can be shown. */
export function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
