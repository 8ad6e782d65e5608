import type { BenchStack } from "../bench-stack.ts";
import { withSender } from "../open-sender.ts";
import { queuedBatch, queuedPoint } from "../sdk-requests.ts";
import { seriesBody, seriesEvent } from "./metric-bodies.ts";

/** What to write to runs. */
export type Filling = {
  readonly keys: readonly string[];
  /** The values of each key from step 0 on, all of the same length, of the run with this place in the list. */
  readonly seriesOf: (run: number) => readonly Float64Array[];
  /** At most 500; 1 is single steps. */
  readonly stepsPerRequest: number;
};

const CONNECTIONS = 8;

/** Writes series to runs over HTTP, several runs at a time and each in the order of its steps. */
export async function fillRuns(bench: BenchStack, runIds: readonly string[], filling: Filling): Promise<void> {
  const { keys, seriesOf, stepsPerRequest } = filling;
  const { stack, key } = bench;
  await withSender({ baseUrl: stack.baseUrl, key, connections: CONNECTIONS }, async ({ send }) => {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let run = next++; run < runIds.length; run = next++) {
        const series = seriesOf(run);
        const steps = series[0]?.length ?? 0;
        for (let from = 0; from < steps; from += stepsPerRequest) {
          const runId = runIds[run]!;
          const to = Math.min(steps, from + stepsPerRequest);
          const isSingle = stepsPerRequest === 1;
          const shot = isSingle
            ? queuedPoint(runId, seriesEvent(keys, series, from))
            : queuedBatch(runId, seriesBody(keys, series, from, to));
          await send(shot);
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  });
}
