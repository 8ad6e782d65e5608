/**
 * How long tests wait for something that will happen. It ends a wait for something that never will, and is unrelated
 * to speed: a busy machine may take many times as long as a quiet one. Shorter than Jest's `testTimeout`, so that
 * a test that gives up says what it waited for.
 */
export const PATIENCE_MS = 240_000;

/**
 * Asks repeatedly until the answer is neither false nor undefined nor null, and returns it; a rejection counts as
 * false.
 *
 * @param withinMs only where the time itself is under test
 * @throws Error after that time, which names the awaited event
 */
export async function until<T>(
  what: string,
  ask: () => Promise<T> | T,
  withinMs = PATIENCE_MS,
): Promise<NonNullable<T>> {
  const end = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < end) {
    try {
      const answer = await ask();
      if (answer !== false && answer !== undefined && answer !== null) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited ${withinMs} ms for ${what}, which did not happen; last: ${String(last)}`);
}
