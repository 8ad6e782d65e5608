import type { LeaseTokensResponse, LeasedTokens } from "@tidemark/proto/usage/v1/usage";
import type { Lease } from "./held-tokens.ts";

/** Sends leases that are requested at the same time in one call. */
export type LeaseBatch = (lease: Lease) => Promise<LeasedTokens & { readonly month: string }>;

/** A lease on the wire. */
type PendingLease = {
  readonly orgId: string;
  readonly bucket: string;
  readonly perSecond: number;
  readonly burst: number;
  readonly wanted: number;
};

type Waiting = {
  readonly lease: PendingLease;
  readonly resolve: (leased: LeasedTokens & { readonly month: string }) => void;
  readonly reject: (error: unknown) => void;
};

const LEASES_MAX = 1000;

/** Creates the batch; `send` makes one call with at most 1,000 leases, of distinct buckets. Two leases of one bucket must not be requested at the same time. */
export function createLeaseBatch(send: (leases: PendingLease[]) => Promise<LeaseTokensResponse>): LeaseBatch {
  let waiting: Waiting[] = [];

  const sendPart = async (part: readonly Waiting[]): Promise<void> => {
    try {
      const { leased, month } = await send(part.map(({ lease }) => lease));
      part.forEach(({ resolve, reject }, i) => {
        const answer = leased[i];
        if (answer === undefined) reject(new Error("a lease has no answer"));
        else resolve({ ...answer, month });
      });
    } catch (error) {
      for (const { reject } of part) reject(error);
    }
  };

  const sendAll = (): void => {
    const all = waiting;
    waiting = [];
    for (let first = 0; first < all.length; first += LEASES_MAX) void sendPart(all.slice(first, first + LEASES_MAX));
  };

  return ({ orgId, bucket, rate: { perSecond, burst }, wanted }) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(sendAll);
      waiting.push({ lease: { orgId, bucket, perSecond, burst, wanted }, resolve, reject });
    });
}
