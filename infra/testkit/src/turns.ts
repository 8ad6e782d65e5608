/** Does work and counts the turns of the event loop that other work of the process gets meanwhile. */
export async function turnsDuring<Result>(
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly turns: number }> {
  let turns = 0;
  let isOver = false;
  const others = (): void => {
    turns += 1;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  try {
    const result = await work();
    return { result, turns };
  } finally {
    isOver = true;
  }
}

/** Runs work that yields after each of its steps to its end, without a pause. */
export function finish<Result>(work: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
