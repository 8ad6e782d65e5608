import { decodeLanding, decodeLandingKey } from "@tidemark/metric-codec";
import type { FirstKeys } from "./first-keys.ts";

/** Inclusive bounds of steps; absent: none. */
export type StepRange = { readonly startStep: number | undefined; readonly endStep: number | undefined };

/** One accepted request as it is stored: its landing block, and when the server received it. */
export type StoredBlock = { readonly points: Uint8Array; readonly receivedUs: number };

/** Takes one point; `timestampUs` is NaN where the client sent no time. */
export type PointVisitor = (step: number, value: number, createdUs: number, timestampUs: number) => void;

/** Passes the points of one key that lie in the range to `visit`, in the order of their arrival. */
export function visitKey(block: StoredBlock, key: string, range: StepRange, visit: PointVisitor): void {
  const series = decodeLandingKey(block.points, key);
  if (series === null) return;
  const { startStep = 0, endStep = Infinity } = range;
  const { steps, values, timestampsUs } = series;
  const timed = timestampsUs.length > 0;
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i]!;
    if (step < startStep || step > endStep) continue;
    visit(step, values[i]!, block.receivedUs, timed ? timestampsUs[i]! : Number.NaN);
  }
}

/** Adds the points of all keys that lie in the range and can still be among the first. Returns how many it added. */
export function collectBlock(block: StoredBlock, range: StepRange, into: FirstKeys): number {
  const { startStep = 0, endStep = Infinity } = range;
  const { keys, steps, timestampsUs, values, offsets, pointIndexes } = decodeLanding(block.points);
  const dense = offsets.length === 0;
  const timed = timestampsUs.length > 0;
  let added = 0;
  for (let k = 0; k < keys.length; k++) {
    const from = dense ? k * steps.length : offsets[k]!;
    const to = dense ? from + steps.length : offsets[k + 1]!;
    const collector = into.collector(keys[k]!);
    // Keys are in order: when one comes too late, so do all after it.
    if (collector === undefined) break;
    for (let i = from; i < to; i++) {
      const point = dense ? i - from : pointIndexes[i]!;
      const step = steps[point]!;
      if (step < startStep || step > endStep) continue;
      collector.add(step, values[i]!, block.receivedUs, timed ? timestampsUs[point]! : Number.NaN);
      added += 1;
    }
  }
  return added;
}
