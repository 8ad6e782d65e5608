import { setImmediate } from "node:timers/promises";

/** Work holds the process for so long at a time; whatever else has come by then goes first, */
const TURN_MS = 2;
/** for so long at most, so that work gets a third of a process that is never idle. */
const OTHERS_MS = 4;
/** A round of the event loop in which nothing else was done takes less. */
const IDLE_MS = 0.2;

/** What turns are taken by. */
type TurnOptions = {
  /** A clock that never steps back. */
  readonly nowMs?: () => number;
  /** Resolves when the other events that have come by now had their turn. */
  readonly others?: () => Promise<unknown>;
};

/**
 * Returns what long work waits for between its steps: at once as long as its turn lasts, then until nothing else is left to do. One round of
 * the event loop would not do: a request takes many, one for each piece of its body, and would wait for a turn in each.
 */
export function takeTurns({
  nowMs = () => performance.now(),
  others = setImmediate,
}: TurnOptions = {}): () => Promise<void> {
  let since = nowMs();
  return async () => {
    const started = nowMs();
    if (started - since < TURN_MS) return;
    for (let at = started, before = -Infinity; at - before > IDLE_MS && at - started < OTHERS_MS;) {
      before = at;
      await others();
      at = nowMs();
    }
    since = nowMs();
  };
}
