import { LRUCache } from "lru-cache";

/** The tokens per second that fill a bucket, and the tokens that it holds. */
export type Rate = { readonly perSecond: number; readonly burst: number };

/** A bucket at one moment. */
export type Bucket = {
  /** Tokens in it, fractions included. */
  readonly tokens: number;
  /** The moment, in milliseconds of a clock that never goes back. */
  readonly atMs: number;
};

/** The outcome of asking for a token. */
export type Taken = {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Whole seconds until the next token, at least 1; 0 when the request got one. */
  readonly waitSeconds: number;
};

/** Returns an unused bucket. */
export function fullBucket(rate: Rate, nowMs: number): Bucket {
  return { tokens: rate.burst, atMs: nowMs };
}

/** Fills the bucket for the time that has passed and takes one token, if there is a whole one. */
export function takeToken(bucket: Bucket, rate: Rate, nowMs: number): Taken & { readonly bucket: Bucket } {
  const tokens = filled(bucket, rate, nowMs);
  const allowed = tokens >= 1;
  const left = allowed ? tokens - 1 : tokens;
  return {
    bucket: { tokens: left, atMs: Math.max(nowMs, bucket.atMs) },
    allowed,
    remaining: Math.floor(left),
    waitSeconds: allowed ? 0 : waitSecondsOf(tokens, rate),
  };
}

/** Puts a token back. */
export function returnToken(bucket: Bucket, rate: Rate): Bucket {
  return { ...bucket, tokens: Math.min(rate.burst, bucket.tokens + 1) };
}

/** Returns the tokens in a bucket at a later moment, fractions included. */
export function filled({ tokens, atMs }: Bucket, { perSecond, burst }: Rate, nowMs: number): number {
  return Math.min(burst, tokens + (Math.max(0, nowMs - atMs) * perSecond) / 1000);
}

/** Returns the whole seconds until a bucket with less than one token has one, at least 1. */
export function waitSecondsOf(tokens: number, { perSecond }: Rate): number {
  return Math.max(1, Math.ceil((1 - tokens) / perSecond));
}

/** Buckets by key, up to a bound; an evicted one is full again when it returns. */
export type Buckets = {
  take(key: string, rate: Rate): Taken;
  /** Undoes one `take`. */
  giveBack(key: string, rate: Rate): void;
};

const KEYS_MAX = 100_000;

/** Creates buckets in the memory of this process; `nowMs` is a clock that never goes back. */
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
