import { runClosedLoop, type LoopResult } from "./closed-loop.ts";
import { withSender, type Shot } from "./open-sender.ts";

export type { Shot } from "./open-sender.ts";

/** What a load measured. */
export type LoadResult = LoopResult;

/** How to load. */
export type LoadOptions = {
  baseUrl: string;
  key: string;
  concurrency: number;
  /** Seconds before the measurement. */
  warmUp: number;
  seconds: number;
  /** The measurement goes on until there are this many answers, at most ten times `seconds`. */
  requestsMin?: number;
  /** A new connection for each request instead of kept ones. */
  fresh?: boolean;
  shot: (index: number) => Shot;
  /** The status of a good answer; default 200. */
  expected?: number;
};

/**
 * Keeps `concurrency` HTTP requests on the way for a while: a closed loop, which tells capacity.
 * `onMeasure` is called when the warm-up ends and again at the end, to take CPU readings.
 */
export async function runLoad(options: LoadOptions, onMeasure?: () => Promise<void>): Promise<LoadResult> {
  const { baseUrl, key, concurrency, fresh = false, shot, expected = 200 } = options;
  return withSender({ baseUrl, key, connections: concurrency, fresh }, (sender) => {
    const once = async (index: number): Promise<void> => void (await sender.send(shot(index), expected));
    return runClosedLoop({ ...options, once }, onMeasure);
  });
}
