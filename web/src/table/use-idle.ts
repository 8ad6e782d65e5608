import { useEffect, useRef, useState } from "preact/hooks";
import { whenIdle } from "../ui/when-idle.ts";
import { hasCommon, type RowWindow } from "./windows.ts";

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
