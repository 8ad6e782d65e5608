import type { Shot } from "../frame/sender.ts";
import { batchTemplate } from "./batch-template.ts";
import { printMetrics, stepBody } from "./bodies.ts";
import { noiseValues } from "./values.ts";

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
