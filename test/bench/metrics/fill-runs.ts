import type { BenchStack } from "../bench-stack.ts";
import { withSender } from "../open-sender.ts";
import { seriesBody } from "./metric-bodies.ts";

/** What to write to runs. */
export type Filling = {
  readonly keys: readonly string[];
  /** The values of each key from step 0 on, all of the same length, of the run with this place in the list. */
  readonly seriesOf: (run: number) => readonly Float64Array[];
  /** At most 500. */
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
          const body = seriesBody(keys, series, from, Math.min(steps, from + stepsPerRequest));
          await send({ method: "POST", path: `/runs/${runIds[run]}/metrics/batch`, body });
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  });
}
