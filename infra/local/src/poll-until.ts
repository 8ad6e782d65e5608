import { setTimeout as pause } from "node:timers/promises";

/**
 * Asks until the answer is not undefined.
 *
 * @returns the answer, or undefined when `timeoutMs` have passed without one
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
