import { withSender } from "../frame/sender.ts";
import type { BenchStack } from "../frame/stack.ts";
import { seriesBody } from "./bodies.ts";

/** The data to write to runs. */
export type Filling = {
  readonly keys: readonly string[];
  /** Returns the values of each key from step 0 on, all of the same length, of the run with this place in the list. */
  readonly seriesOf: (run: number) => readonly Float64Array[];
};

const CONNECTIONS = 8;
const STEPS_A_REQUEST = 500;

/** Writes series to runs over HTTP, several runs simultaneously and each in the order of its steps. */
export async function fillRuns(bench: BenchStack, runIds: readonly string[], filling: Filling): Promise<void> {
  const { keys, seriesOf } = filling;
  await withSender({ baseUrl: bench.stack.baseUrl, key: bench.key }, CONNECTIONS, async ({ send }) => {
    let next = 0;
    const worker = async (): Promise<void> => {
      for (let run = next++; run < runIds.length; run = next++) {
        const series = seriesOf(run);
        const steps = series[0]?.length ?? 0;
        for (let from = 0; from < steps; from += STEPS_A_REQUEST) {
          const body = seriesBody(keys, series, from, Math.min(steps, from + STEPS_A_REQUEST));
          await send({ method: "POST", path: `/runs/${runIds[run]!}/metrics/batch`, body, keyed: true });
        }
      }
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, worker));
  });
}
