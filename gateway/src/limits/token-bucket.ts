import { LRUCache } from "lru-cache";

/** How fast a bucket fills, in tokens a second, and how many it holds. */
export type Rate = { readonly perSecond: number; readonly burst: number };

/** A bucket at one moment. */
export type Bucket = {
  /** Tokens in it, fractions included. */
  readonly tokens: number;
  /** When that was, in milliseconds of a clock that never goes back. */
  readonly atMs: number;
};

/** What came of asking for a token. */
export type Taken = {
  readonly bucket: Bucket;
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds until the next token, at least 1, when there was none; else 0. */
  readonly waitSeconds: number;
};

/** A bucket that nobody has used. */
export function fullBucket(rate: Rate, nowMs: number): Bucket {
  return { tokens: rate.burst, atMs: nowMs };
}

/** Fills the bucket for the time that has passed and takes one token out of it, if there is a whole one. */
export function takeToken(bucket: Bucket, rate: Rate, nowMs: number): Taken {
  const tokens = filled(bucket, rate, nowMs);
  const allowed = tokens >= 1;
  const left = allowed ? tokens - 1 : tokens;
  return {
    bucket: { tokens: left, atMs: Math.max(nowMs, bucket.atMs) },
    allowed,
    remaining: Math.floor(left),
    waitSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - tokens) / rate.perSecond)),
  };
}

/** Puts a token back that turned out not to be owed. */
export function returnToken(bucket: Bucket, rate: Rate): Bucket {
  return { ...bucket, tokens: Math.min(rate.burst, bucket.tokens + 1) };
}

function filled({ tokens, atMs }: Bucket, { perSecond, burst }: Rate, nowMs: number): number {
  return Math.min(burst, tokens + (Math.max(0, nowMs - atMs) * perSecond) / 1000);
}

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
