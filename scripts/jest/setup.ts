import { registerHooks } from "node:module";
import { addEventHandler } from "jest-circus";
import { setImmediate } from "node:timers/promises";
import { addNotes } from "@tidemark/testkit";

// Runs once in each thread, before its first test file.

/** Replacements for these packages in tests. `@jest/globals` works only inside Jest's own sandbox, which the runner does without. */
const replaced: Readonly<Record<string, string>> = {
  "@jest/globals": new URL("./globals.ts", import.meta.url).href,
  "fast-check": new URL("./fast-check.ts", import.meta.url).href,
};
registerHooks({
  resolve(specifier, context, next) {
    const url = replaced[specifier];
    return url === undefined || url === context.parentURL ? next(specifier, context) : { url, shortCircuit: true };
  },
});

// The runner has no time limit, and an unhandled rejection or an error that nothing catches would end the thread.
addEventHandler((event, { currentDescribeBlock }) => {
  if (event.name !== "add_test" && event.name !== "add_hook") return;
  const added = (event.name === "add_test" ? currentDescribeBlock.children : currentDescribeBlock.hooks).at(-1);
  if (added === undefined || added.type === "describeBlock") return;
  const fn = added.fn as (() => unknown) | undefined;
  if (fn !== undefined) added.fn = () => runGuarded(fn, added.timeout ?? undefined);
});

// Tests may replace the global ones.
const { setTimeout: startTimer, clearTimeout: stopTimer } = globalThis;

/**
 * Ends a test or hook that hangs. It has nothing to do with speed: a busy machine may take ten times as long.
 */
const TIMEOUT_MS = 600_000;

const unhandled = new Map<Promise<unknown>, unknown>();
process.on("unhandledRejection", (reason, promise) => void unhandled.set(promise, reason));
process.on("rejectionHandled", (promise) => void unhandled.delete(promise));

// Without a listener it would end the thread, and with it the servers that the thread has started for others.
let uncaught: Error | undefined;
let interrupt: ((error: unknown) => void) | undefined;
process.on("uncaughtException", (error) => {
  uncaught ??= error;
  interrupt?.(error);
});

/**
 * Runs a test or hook. Rejects as well when it takes longer than this, for an error that nothing caught meanwhile, and for a promise that was rejected and
 * has no handler.
 */
async function runGuarded(fn: () => unknown, ms = TIMEOUT_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const broken = new Promise<never>((_, reject) => {
    timer = startTimer(() => reject(new Error(`it takes longer than ${ms / 1000} s`)), ms);
    interrupt = reject;
  });
  try {
    await Promise.race([fn(), broken]);
    // Node reports a rejection once the queue of microtasks is empty.
    await setImmediate();
    if (uncaught !== undefined) throw uncaught;
    const reasons = [...unhandled.values()];
    if (reasons.length > 0)
      throw new AggregateError(reasons, `rejected, and nothing waits for it: ${String(reasons[0])}`);
  } catch (error) {
    await addNotes(error);
    throw error;
  } finally {
    stopTimer(timer);
    [interrupt, uncaught] = [undefined, undefined];
    unhandled.clear();
  }
}
