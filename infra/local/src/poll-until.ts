import { setTimeout as pause } from "node:timers/promises";

/**
 * Calls `ask` until it returns something other than undefined.
 *
 * @returns the answer, or undefined if `timeoutMs` have passed without one
 */
export async function pollUntil<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  { everyMs, timeoutMs }: { everyMs: number; timeoutMs: number },
): Promise<T | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || performance.now() >= deadline) return answer;
    await pause(everyMs);
  }
}
