import { setImmediate } from "node:timers/promises";

/** Work holds the process for so long at a time; whatever else has come by then goes first. */
const TURN_MS = 4;

/** Returns what long work waits for between its steps: at once as long as its turn lasts, then until other events of the process had theirs. */
export function takeTurns(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < TURN_MS) return;
    await setImmediate();
    since = performance.now();
  };
}
