/** Bounds that both drivers share. Times in milliseconds. */
export const busLimits = {
  /** How long an id is remembered, so that publishing again is harmless. */
  dedupWindowMs: 120_000,
  /** How long an unfinished message is kept. */
  keepMs: 7 * 24 * 3_600_000,
  publishTimeoutMs: 2_000,
  dataBytesMax: 512 * 1024,
  ackWaitMsDefault: 30_000,
} as const;

/** How long a message waits after its handler threw on the given attempt: 100 ms, doubling, at most 30 s. */
export function retryDelayMs(attempt: number): number {
  return Math.min(100 * 2 ** Math.min(attempt - 1, 20), 30_000);
}
