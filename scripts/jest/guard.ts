import { setImmediate } from "node:timers/promises";

// Tests may replace the global ones.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/**
 * Ends a test or hook that hangs. It has nothing to do with speed: a busy machine may take ten times as long.
 */
const TIMEOUT_MS = 600_000;

/** Runs a test or hook and rejects when it takes longer than this. */
export async function withTimeout(fn: () => unknown, ms = TIMEOUT_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = startTimer(() => reject(new Error(`it takes longer than ${ms / 1000} s`)), ms);
  });
  try {
    await Promise.race([fn(), late]);
  } finally {
    stopTimer(timer);
  }
}

const unhandled = new Map<Promise<unknown>, unknown>();
process.on("unhandledRejection", (reason, promise) => void unhandled.set(promise, reason));
process.on("rejectionHandled", (promise) => void unhandled.delete(promise));

/** Waits for a test or hook, and rejects too if a promise was rejected meanwhile and has no handler. */
export async function failUnhandled(running: Promise<void>): Promise<void> {
  await running;
  // Node reports a rejection once the queue of microtasks is empty.
  await setImmediate();
  const reasons = [...unhandled.values()];
  unhandled.clear();
  if (reasons.length > 0)
    throw new AggregateError(reasons, `rejected, and nothing waits for it: ${String(reasons[0])}`);
}
