import { stopIfOver } from "../deadline/deadline.ts";

/** Milliseconds that work may take at a time before others get a turn. */
const TURN_MS = 2;

/** The work of the process that waits for its next turn, in the order in which it arrived. */
const waiting: (() => void)[] = [];

function giveTurn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(giveTurn);
}

/**
 * Gives other work of the process a turn: work that has arrived meanwhile, and work that already waits. One waiter continues in each tick of the event loop.
 * If all did, 20 of them would hold the loop 20 times as long as one. Work that no caller waits for any more, because its deadline has passed or its caller
 * has left, ends here.
 * @throws deadline_exceeded
 */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(giveTurn);
  });
  stopIfOver();
}

/**
 * Returns a function to call after each step of long work: it returns undefined while the work has not taken long, and then a promise that resolves when
 * others have had a turn, and rejects as `nextTurn` does.
 */
export function createPauses(): () => Promise<void> | undefined {
  let sinceMs = performance.now();
  const pause = async (): Promise<void> => {
    await nextTurn();
    sinceMs = performance.now();
  };
  return () => (performance.now() - sinceMs < TURN_MS ? undefined : pause());
}

/** Maps items in their order, in turns with other work of the process. @throws deadline_exceeded as `nextTurn` does */
export async function mapInTurns<Item, Mapped>(
  items: readonly Item[],
  map: (item: Item, index: number) => Mapped,
): Promise<Mapped[]> {
  const mapped: Mapped[] = [];
  const pauseIfLong = createPauses();
  for (const [index, item] of items.entries()) {
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
    mapped.push(map(item, index));
  }
  return mapped;
}

/** Runs work that yields after each of its steps to its end, in turns with other work of the process. @throws deadline_exceeded as `nextTurn` does */
export async function finishInTurns<Result>(work: Generator<void, Result>): Promise<Result> {
  for (const pauseIfLong = createPauses(); ;) {
    const { done, value } = work.next();
    if (done === true) return value;
    const pause = pauseIfLong();
    if (pause !== undefined) await pause;
  }
}
