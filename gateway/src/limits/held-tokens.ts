import { LRUCache } from "lru-cache";
import { shareOf, tokensOfLease } from "./rates.rules.ts";
import { filled, fullBucket, takeToken, waitSecondsOf, type Bucket, type Rate, type Taken } from "./token-bucket.ts";

/** A bucket that all gateways share. */
export type SharedBucket = { readonly orgId: string; readonly bucket: string };

/** A request for tokens of a shared bucket. */
export type Lease = SharedBucket & { readonly rate: Rate; readonly wanted: number };

/** The result of a lease: whole tokens, and how many are left in the bucket. */
export type Leased = { readonly tokens: number; readonly left: number };

/** Takes tokens of shared buckets, from those that this gateway has leased. */
export type HeldTokens = {
  /** Asks for a token. The answer waits for a lease only if no token is held. Never rejects. */
  readonly take: (of: SharedBucket, rate: Rate) => Taken | Promise<Taken>;
};

type Held = {
  readonly of: SharedBucket;
  rate: Rate;
  /** Leased and not used yet. */
  tokens: number;
  goodUntilMs: number;
  /** The shared bucket as the latest lease left it. */
  left: Bucket;
  /** Until then the bucket is known to be empty. */
  emptyUntilMs: number;
  /** Used since the latest lease was requested. */
  used: number;
  /** Requests that wait for the answer to a lease. */
  waiting: ((taken: Taken) => void)[];
  asking: boolean;
  /** The tokens that this gateway grants by itself while leases fail. */
  share: Bucket | undefined;
};

/** Leased tokens that are not used in time are lost. If the bucket is full, no request misses them. */
const GOOD_MS = 1000;
const GOOD_OF_FULL_MS = 10_000;
/** An exhausted bucket is not asked again sooner: the tokens that flow in meanwhile remain for the next lease. */
const EMPTY_MS_MIN = 25;
/** Milliseconds between attempts while leases fail. */
const FAILED_MS = 1000;
const BUCKETS_MAX = 100_000;

/**
 * Creates the tokens of this process. `lease` takes tokens out of one shared bucket; while it fails, each of the `gateways` grants its part of the
 * rate by itself. `nowMs` is a clock that never goes back.
 */
export function createHeldTokens(options: {
  readonly lease: (lease: Lease) => Promise<Leased>;
  readonly gateways: () => number;
  readonly nowMs: () => number;
  readonly bucketsMax?: number;
}): HeldTokens {
  const { lease, gateways, nowMs } = options;
  const buckets = new LRUCache<string, Held>({ max: options.bucketsMax ?? BUCKETS_MAX });
  let hasFailed = false;
  let failedAtMs = 0;

  const ask = async (held: Held): Promise<void> => {
    held.asking = true;
    const wanted = Math.max(held.waiting.length, spareOf(held));
    held.used = 0;
    try {
      const leased = await lease({ ...held.of, rate: held.rate, wanted });
      hasFailed = false;
      keep(held, leased, wanted, nowMs());
    } catch {
      hasFailed = true;
      failedAtMs = nowMs();
    }
    held.asking = false;
    serve(held);
  };

  const serve = (held: Held): void => {
    const waiting = held.waiting;
    held.waiting = [];
    for (const answer of waiting) {
      const taken = takeNow(held);
      if (taken === undefined) held.waiting.push(answer);
      else answer(taken);
    }
    // They arrived while the lease was on its way, and it has granted all its tokens.
    if (held.waiting.length > 0 && !held.asking) void ask(held);
  };

  const takeNow = (held: Held): Taken | undefined => {
    const now = nowMs();
    if (now >= held.goodUntilMs) held.tokens = 0;
    if (held.tokens >= 1) {
      held.tokens -= 1;
      held.used += 1;
      return { allowed: true, remaining: remainingOf(held, now), waitSeconds: 0 };
    }
    if (hasFailed) return takeShare(held, now);
    if (now >= held.emptyUntilMs) return undefined;
    const left = filled(held.left, held.rate, now);
    return { allowed: false, remaining: 0, waitSeconds: waitSecondsOf(left, held.rate) };
  };

  const takeShare = (held: Held, now: number): Taken => {
    const share = shareOf(held.rate, gateways());
    held.share ??= { tokens: Math.min(share.burst, filled(held.left, held.rate, now) / gateways()), atMs: now };
    const { bucket, ...taken } = takeToken(held.share, share, now);
    held.share = bucket;
    return taken;
  };

  const find = (of: SharedBucket, rate: Rate): Held => {
    const key = `${of.orgId} ${of.bucket}`;
    let held = buckets.get(key);
    if (held === undefined) {
      held = newHeld(of, rate, nowMs());
      buckets.set(key, held);
    }
    // Another plan has another rate.
    held.rate = rate;
    return held;
  };

  return {
    take(of, rate) {
      const held = find(of, rate);
      const taken = takeNow(held);
      const mayAsk = !held.asking && (!hasFailed || nowMs() - failedAtMs >= FAILED_MS);
      if (taken !== undefined) {
        if (mayAsk && (hasFailed || isDue(held, nowMs()))) void ask(held);
        return taken;
      }
      return new Promise((resolve) => {
        held.waiting.push(resolve);
        if (mayAsk) void ask(held);
      });
    },
  };
}

function newHeld(of: SharedBucket, rate: Rate, nowMs: number): Held {
  return {
    of,
    rate,
    tokens: 0,
    goodUntilMs: 0,
    left: fullBucket(rate, nowMs),
    emptyUntilMs: 0,
    used: 0,
    waiting: [],
    asking: false,
    share: undefined,
  };
}

/** Adds the tokens of a lease to the held ones. */
function keep(held: Held, { tokens, left }: Leased, wanted: number, now: number): void {
  held.tokens += tokens;
  held.left = { tokens: left, atMs: now };
  held.goodUntilMs = now + (left >= held.rate.burst / 2 ? GOOD_OF_FULL_MS : GOOD_MS);
  held.share = undefined;
  const waitMs = ((1 - left) / held.rate.perSecond) * 1000;
  held.emptyUntilMs = tokens < wanted ? now + Math.max(EMPTY_MS_MIN, waitMs) : 0;
}

/**
 * Tokens that a lease requests in addition to those for waiting requests: a whole lease while the bucket is rather full, else about as many as were used
 * meanwhile.
 */
function spareOf({ left, rate, used }: Held): number {
  const all = tokensOfLease(rate);
  return left.tokens >= rate.burst / 2 ? all : Math.max(1, Math.min(all, used));
}

/** Returns whether to ask for more before the last token is used, so that requests do not wait. */
function isDue(held: Held, now: number): boolean {
  const all = tokensOfLease(held.rate);
  return all > 1 && held.used > 0 && held.tokens <= all / 4 && now >= held.emptyUntilMs;
}

/** A request has just taken a token, so that at least one of a whole burst is missing. */
function remainingOf(held: Held, now: number): number {
  return Math.min(Math.floor(held.rate.burst) - 1, Math.floor(filled(held.left, held.rate, now)) + held.tokens);
}
