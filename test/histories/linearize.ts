/** An operation of a history: what was asked and answered, and when by one clock. */
export type Entry<Operation, Answer> = {
  readonly operation: Operation;
  readonly answer: Answer;
  readonly begun: number;
  readonly ended: number;
};

/** How a thing behaves when operations follow one another. */
export type Model<State, Operation, Answer> = {
  readonly initial: State;
  /** Returns the state after an operation that got this answer; undefined when it would have got another one. */
  readonly follow: (state: State, operation: Operation, answer: Answer) => State | undefined;
};

/**
 * Returns an order of the operations in which each answer is the right one, such that of two operations
 * the one that had ended before the other began comes first (Herlihy and Wing, linearizability);
 * undefined when there is none. Tries all orders, so a history should have a dozen operations at most.
 */
export function linearize<State, Operation, Answer>(
  history: readonly Entry<Operation, Answer>[],
  { initial, follow }: Model<State, Operation, Answer>,
): Entry<Operation, Answer>[] | undefined {
  const everything = 2 ** history.length - 1;
  const deadEnds = new Set<string>();

  const search = (done: number, state: State): Entry<Operation, Answer>[] | undefined => {
    if (done === everything) return [];
    const place = `${done} ${JSON.stringify(state)}`;
    if (deadEnds.has(place)) return undefined;
    const open = history.filter((_, i) => (done & (2 ** i)) === 0);
    const firstEnd = Math.min(...open.map(({ ended }) => ended));
    for (const [i, entry] of history.entries()) {
      if ((done & (2 ** i)) !== 0 || entry.begun > firstEnd) continue;
      const next = follow(state, entry.operation, entry.answer);
      const rest = next === undefined ? undefined : search(done | (2 ** i), next);
      if (rest !== undefined) return [entry, ...rest];
    }
    deadEnds.add(place);
    return undefined;
  };
  return search(0, initial);
}

/** Returns whether operations of a history overlapped: one began while another was in progress. */
export function met(history: readonly Entry<unknown, unknown>[]): boolean {
  return history.some((one) => history.some((other) => one.begun < other.begun && other.begun < one.ended));
}
