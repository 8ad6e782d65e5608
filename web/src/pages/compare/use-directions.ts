import { useEffect, useState } from "preact/hooks";
import { query } from "../../api/queries.ts";
import type { Aggregate } from "../../api/run-types.ts";
import { directionOf, type Direction } from "./compare-rows.ts";

/** Number of runs that are asked: a run whose metric never changed says nothing about its direction. */
const ASKED_MAX = 3;

/** Reads which way metrics are better, from what the server counts as the best of some runs. */
export function useDirections(runIds: readonly string[]): ReadonlyMap<string, Direction> {
  const [found, setFound] = useState<ReadonlyMap<string, Direction>>(new Map());
  const asked = runIds.slice(0, ASKED_MAX);
  useEffect(() => {
    const ending = new AbortController();
    const read = async (id: string): Promise<void> => {
      const { run } = await query<{ run: { metric_aggregates: Readonly<Record<string, Aggregate>> } }>(`/runs/${id}`, {
        signal: ending.signal,
      });
      setFound((before) => {
        const next = new Map(before);
        for (const [key, figures] of Object.entries(run.metric_aggregates)) {
          const direction = directionOf(figures);
          if (direction !== undefined) next.set(key, direction);
        }
        return next;
      });
    };
    // Without them differences have no color.
    for (const id of asked) read(id).catch(() => undefined);
    return () => ending.abort();
  }, [asked.join()]);
  return found;
}
