import type { Lease, Leased } from "./held-tokens.ts";
import { fullBucket, takeToken, type Bucket } from "./token-bucket.ts";

/** Buckets as the service of usage keeps them, for tests with a clock of their own. */
export function createSharedBuckets(nowMs: () => number) {
  const buckets = new Map<string, Bucket>();
  const asked: Lease[] = [];
  return {
    /** Every requested lease. */
    asked,
    lease: (lease: Lease): Promise<Leased> => {
      asked.push(lease);
      const key = `${lease.orgId} ${lease.bucket}`;
      let bucket = buckets.get(key) ?? fullBucket(lease.rate, nowMs());
      let tokens = 0;
      for (; tokens < lease.wanted; tokens += 1) {
        const taken = takeToken(bucket, lease.rate, nowMs());
        if (!taken.allowed) break;
        bucket = taken.bucket;
      }
      buckets.set(key, bucket);
      const sinceMs = Math.max(0, nowMs() - bucket.atMs);
      const left = Math.min(lease.rate.burst, bucket.tokens + (sinceMs * lease.rate.perSecond) / 1000);
      return Promise.resolve({ tokens, left });
    },
  };
}
