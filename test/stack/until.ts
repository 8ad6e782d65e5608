/**
 * Asks again and again until the answer is neither false nor undefined; a rejection counts as
 * false. @throws Error after `timeoutMs` with what was waited for.
 */
export async function until<T>(what: string, ask: () => Promise<T> | T, timeoutMs = 15_000): Promise<NonNullable<T>> {
  const end = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < end) {
    try {
      const answer = await ask();
      if (answer !== false && answer !== undefined && answer !== null) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`waited ${timeoutMs} ms in vain for ${what}; last: ${String(last)}`);
}
