import { LRUCache } from "lru-cache";
import { fullBucket, returnToken, takeToken, type Bucket, type Rate, type Taken } from "./token-bucket.ts";

/** Buckets by key, as many as fit; one that was pushed out comes back full. */
export type Buckets = {
  take(key: string, rate: Rate): Taken;
  /** Undoes one `take`. */
  giveBack(key: string, rate: Rate): void;
};

const KEYS_MAX = 100_000;

/** Makes buckets in the memory of this process; `nowMs` is a clock that never goes back. */
export function createBuckets(nowMs: () => number, keysMax = KEYS_MAX): Buckets {
  const buckets = new LRUCache<string, Bucket>({ max: keysMax });
  return {
    take(key, rate) {
      const now = nowMs();
      const taken = takeToken(buckets.get(key) ?? fullBucket(rate, now), rate, now);
      buckets.set(key, taken.bucket);
      return taken;
    },
    giveBack(key, rate) {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, returnToken(bucket, rate));
    },
  };
}
