import { setTimeout as pause } from "node:timers/promises";

/** A request that is over. */
export type Answer = {
  /** When it was due, or sent, on the clock of `performance.now()`. */
  readonly dueAt: number;
  readonly latencyMs: number;
  readonly error: unknown;
};

/** How to keep requests on the way. */
export type Drive = {
  /** Requests that are on the way simultaneously; with a rate the most of them. */
  readonly concurrency: number;
  /** Requests a second of an open loop, which shows latency. Without it the next one is sent when one is answered, which shows capacity. */
  readonly rate?: number | undefined;
  /** Ends the loop after the requests that are on the way. */
  readonly signal: AbortSignal;
  /** One request; a rejection counts as a failed one. `index` rises by one with each. */
  readonly send: (index: number) => Promise<unknown>;
  readonly onAnswer: (answer: Answer) => void;
};

/**
 * Sends requests until the signal fires. With a rate they are due evenly, independent of the answers, and latency counts from when a request was due:
 * waiting for a free place counts, too.
 */
export async function drive({ concurrency, rate, signal, send, onAnswer }: Drive): Promise<void> {
  const started = performance.now();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (!signal.aborted) {
      const index = next++;
      const due = rate === undefined ? performance.now() : started + (index / rate) * 1000;
      const early = due - performance.now();
      if (early > 0.5) await pause(early, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      let error: unknown;
      try {
        await send(index);
      } catch (caught) {
        error = caught ?? new Error("no reason given");
      }
      onAnswer({ dueAt: due, latencyMs: performance.now() - due, error });
      // Without it a server that refuses immediately would keep this process busy with requests alone.
      if (error !== undefined) await pause(1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
