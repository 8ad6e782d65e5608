import { nextTurn } from "@tidemark/work";

/** How long work holds the process at a time before other events run. */
const TURN_MS = 2;
/** How long other events may run at most, so that work gets a third of a process that is never idle. */
const OTHERS_MS = 4;
/** A round of the event loop that does nothing else takes less. */
const IDLE_MS = 0.2;

type TurnOptions = {
  /** A clock that never steps back. */
  readonly nowMs?: () => number;
  /** Resolves after one round of the event loop, when the other events that arrived before it had their turn. */
  readonly others?: () => Promise<unknown>;
};

/**
 * Returns a function that long work awaits between its steps. It resolves immediately during the turn of the work, and after it when
 * nothing else is left to do. One round of the event loop would not suffice: a request takes many rounds, one for each piece of its body, and
 * would wait for a turn of the work in each.
 */
export function takeTurns({
  nowMs = () => performance.now(),
  others = nextTurn,
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
