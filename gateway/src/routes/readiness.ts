/** For how long the outcome of a probe is believed, in milliseconds. */
const PROBE_MS = 1000;

/**
 * Asks `probe` at most once a second, however often probes of load balancers come; a rejection means
 * no. `nowMs` is a clock that never goes back.
 */
export function cachedProbe(probe: () => Promise<boolean>, nowMs: () => number): () => Promise<boolean> {
  let answer: Promise<boolean> | undefined;
  let askedAtMs = 0;
  return () => {
    if (answer === undefined || nowMs() - askedAtMs >= PROBE_MS) {
      askedAtMs = nowMs();
      answer = probe().catch(() => false);
    }
    return answer;
  };
}
