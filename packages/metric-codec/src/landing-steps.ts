import { STEPS_EACH, STEPS_STRIDED } from "./landing-layout.ts";

/** The step codec that fits: first and stride where that gives every step back bit for bit and saves memory, else each step. */
export function stepCodecFor(steps: Float64Array): number {
  if (steps.length < 3) return STEPS_EACH;
  const first = steps[0]!;
  const stride = steps[1]! - first;
  if (!Number.isFinite(stride)) return STEPS_EACH;
  for (let i = 0; i < steps.length; i++) {
    if (!Object.is(steps[i]!, first + i * stride)) return STEPS_EACH;
  }
  return STEPS_STRIDED;
}

/** Writes the steps at byte `at`, a multiple of 8. */
export function writeSteps(buffer: ArrayBuffer, at: number, codec: number, steps: Float64Array): void {
  if (codec === STEPS_EACH) new Float64Array(buffer, at, steps.length).set(steps);
  else new Float64Array(buffer, at, 2).set([steps[0]!, steps[1]! - steps[0]!]);
}

/** The steps of `points` points at byte `at` of an aligned block: a view of it where each was written, otherwise new. */
export function readSteps(block: Uint8Array, at: number, codec: number, points: number): Float64Array {
  if (codec === STEPS_EACH) return new Float64Array(block.buffer, block.byteOffset + at, points);
  const [first = 0, stride = 0] = new Float64Array(block.buffer, block.byteOffset + at, 2);
  const steps = new Float64Array(points);
  for (let i = 0; i < points; i++) steps[i] = first + i * stride;
  return steps;
}
