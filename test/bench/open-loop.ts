import { setTimeout as pause } from "node:timers/promises";

/** A request of an open loop that is over. */
export type OpenLoopAnswer = {
  readonly index: number;
  /** Milliseconds since the start of the loop when it was due. */
  readonly dueMs: number;
  /** From when it was due to its answer: what waited for a free place has waited, too. */
  readonly latencyMs: number;
  readonly error: unknown;
};

/**
 * Sends `rate` requests a second, evenly, whether the earlier ones are answered or not, for `seconds` or until `signal`
 * fires; at most `inFlightMax` are on the way, the others wait. Resolves when all are over.
 */
export async function runOpenLoop(options: {
  readonly rate: number;
  readonly seconds: number;
  readonly inFlightMax: number;
  readonly send: (index: number) => Promise<unknown>;
  readonly onAnswer: (answer: OpenLoopAnswer) => void;
  readonly signal?: AbortSignal;
}): Promise<void> {
  const { rate, seconds, inFlightMax, send, onAnswer, signal } = options;
  const total = Math.round(rate * seconds);
  const started = performance.now();
  const inFlight = new Set<Promise<void>>();

  const fire = async (index: number, dueMs: number): Promise<void> => {
    let error: unknown;
    try {
      await send(index);
    } catch (caught) {
      error = caught ?? new Error("no reason given");
    }
    onAnswer({ index, dueMs, latencyMs: performance.now() - started - dueMs, error });
  };

  for (let index = 0; index < total && signal?.aborted !== true; index += 1) {
    const dueMs = (index / rate) * 1000;
    const early = dueMs - (performance.now() - started);
    if (early > 0.5) await pause(early);
    while (inFlight.size >= inFlightMax) await Promise.race(inFlight);
    const one = fire(index, dueMs);
    inFlight.add(one);
    void one.then(() => inFlight.delete(one));
  }
  await Promise.all(inFlight);
}
