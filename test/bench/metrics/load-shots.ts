import { type Shot, withSender } from "../frame/sender.ts";
import { batchTemplate, printMetrics, stepBody, seriesBody } from "./bodies.ts";
import { noiseValues } from "./values.ts";
import type { BenchStack } from "../frame/stack.ts";

/** Writes of one shape. */
export type WriteLoad = {
  /** Steps in a request: 1 is what a training loop sends, 500 what a queue sends. */
  readonly points: number;
  readonly keys: number;
  /** Whether points have a client time. Default: true. */
  readonly timed?: boolean;
};

const STEP_KEYS = ["eval/accuracy", "eval/loss", "lr", "train/accuracy", "train/grad_norm", "train/loss"];
/** Batches of a run whose values differ; more than a block of one key holds of the same run. */
const TEMPLATES = 9;
const STEP_VALUES = 2 ** 16;

/** Returns names of `count` keys, sorted by their bytes. */
export function keyNames(count: number): readonly string[] {
  if (count === STEP_KEYS.length) return STEP_KEYS;
  const digits = String(count - 1).length;
  return Array.from({ length: count }, (_, key) => `layer/${String(key).padStart(digits, "0")}/grad_norm`);
}

/** Returns the requests of a load by their number: to the runs in turn, each at its next steps. */
export function loadShots({ points, keys, timed = true }: WriteLoad, runIds: readonly string[]) {
  const names = keyNames(keys);
  const placeOf = (index: number) => ({
    runId: runIds[index % runIds.length]!,
    turn: Math.floor(index / runIds.length),
  });
  if (points === 1) {
    const values = noiseValues(STEP_VALUES, 1);
    return (index: number): Shot => {
      const { runId, turn } = placeOf(index);
      const metrics = printMetrics(names, (key) => values[(index * keys + key) % STEP_VALUES]);
      return { method: "POST", path: `/runs/${runId}/metrics`, body: stepBody(metrics, turn), keyed: true };
    };
  }
  const templates = Array.from({ length: TEMPLATES }, (_, seed) =>
    batchTemplate(names, noiseValues(points * keys, 1 + seed), timed),
  );
  return (index: number): Shot => {
    const { runId, turn } = placeOf(index);
    const { body } = templates[(index + turn) % TEMPLATES]!;
    return { method: "POST", path: `/runs/${runId}/metrics/batch`, body: body(turn), keyed: true };
  };
}

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
