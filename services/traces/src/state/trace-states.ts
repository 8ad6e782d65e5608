import { LRUCache } from "lru-cache";
import { newTraceState, type TraceKey, type TraceState } from "./trace-state.rules.ts";

/** The traces that are being written and read, as far as they fit into memory; the least recently used is forgotten first. */
export type TraceStates = {
  /**
   * Runs `work` alone with the states of these traces, whose keys are distinct; a trace that is not in memory has an empty state. The states are kept
   * when `work` resolves, and forgotten when it throws, because they may then hold records that were never stored.
   */
  use<T>(keys: readonly TraceKey[], work: (states: readonly TraceState[]) => Promise<T>): Promise<T>;
};

/** Creates an empty memory of about `bytesMax` bytes. */
export function createTraceStates(bytesMax: number): TraceStates {
  const states = new LRUCache<string, TraceState>({
    maxSize: bytesMax,
    sizeCalculation: ({ fold }) => fold.bytes,
  });
  /** The last use of each trace that is in use. */
  const uses = new Map<string, Promise<unknown>>();

  const useAlone = async <T>(
    names: readonly string[],
    work: (states: readonly TraceState[]) => Promise<T>,
  ): Promise<T> => {
    const used = names.map((name) => states.get(name) ?? newTraceState());
    try {
      const result = await work(used);
      // Also for those that were known, because they have another size now.
      names.forEach((name, i) => states.set(name, used[i]));
      return result;
    } catch (error) {
      for (const name of names) states.delete(name);
      throw error;
    }
  };

  return {
    use(keys, work) {
      const names = keys.map(({ orgId, runId, traceId }) => `${orgId}/${runId}/${traceId}`);
      // Registered for all traces in one step, so that two uses never wait for each other.
      const before = names.map((name) => uses.get(name) ?? Promise.resolve());
      const use = Promise.all(before).then(() => useAlone(names, work));
      const end = use.then(
        () => {},
        () => {},
      );
      for (const name of names) uses.set(name, end);
      void end.then(() => {
        for (const name of names) if (uses.get(name) === end) uses.delete(name);
      });
      return use;
    },
  };
}
