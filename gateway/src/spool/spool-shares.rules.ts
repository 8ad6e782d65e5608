import { AppError } from "@tidemark/errors";

/** Whose export it is: the organization, and the credential that asks. */
export type Party = { readonly orgId: string; readonly caller: string };

/** What one export takes. */
export type Held = Party & {
  readonly bytes: number;
  /** A request has it. */
  readonly isInUse: boolean;
};

/** What is wanted besides what is held: one more export, or more bytes of one. */
export type SpoolRequest = { readonly bytes: number; readonly exports: 0 | 1 };

/** What all exports may take together. */
export type SpoolBounds = { readonly bytes: number; readonly exports: number };

/** Part of all bytes that one organization may take. */
const ORGANIZATION_BYTES = 1 / 4;
/** Parts of all exports that those of one organization, and those of one caller, may be. */
const [ORGANIZATION_EXPORTS, CALLER_EXPORTS] = [1 / 8, 1 / 16];

/** What has run out, and whose share it was. */
export type Refusal = {
  readonly whose: "caller" | "organization" | "everybody";
  readonly what: "bytes" | "exports";
  readonly most: number;
};

/**
 * Decides what must go so that a party gets what it wishes. `held` begins with what was not used for the longest time. What is in use stays, and whoever
 * is at the share of its organization gives up its own. Returns the exports to drop, or what has run out.
 */
export function makeRoom<T extends Held>(
  held: readonly T[],
  party: Party,
  wish: SpoolRequest,
  bounds: SpoolBounds,
): readonly T[] | Refusal {
  const isOwn = ({ orgId }: Held): boolean => orgId === party.orgId;
  const groups = [
    {
      whose: "caller",
      has: (one: Held) => isOwn(one) && one.caller === party.caller,
      most: { bytes: Number.POSITIVE_INFINITY, exports: bounds.exports * CALLER_EXPORTS },
    },
    {
      whose: "organization",
      has: isOwn,
      most: { bytes: bounds.bytes * ORGANIZATION_BYTES, exports: bounds.exports * ORGANIZATION_EXPORTS },
    },
    { whose: "everybody", has: () => true, most: bounds },
  ] as const;
  const dropped = new Set<T>();
  for (const { whose, has, most } of groups) {
    const left = held.filter((one) => has(one) && !dropped.has(one));
    const unused = left.filter(({ isInUse }) => !isInUse);
    let bytes = left.reduce((sum, one) => sum + one.bytes, wish.bytes);
    let exports = left.length + wish.exports;
    while (bytes > most.bytes || exports > most.exports) {
      const next = unused.shift();
      const what = bytes > most.bytes ? "bytes" : "exports";
      if (next === undefined) return { whose, what, most: most[what] };
      dropped.add(next);
      bytes -= next.bytes;
      exports -= 1;
    }
  }
  return [...dropped];
}

/** Returns the error for a client: what has run out. */
export function refusalOf({ whose, what, most }: Refusal): AppError {
  const retry = { retryAfterSeconds: 10 };
  if (whose === "everybody") return new AppError("service_unavailable", `there is no room for more ${what}`, retry);
  const who = whose === "caller" ? "a caller" : "an organization";
  const text = what === "bytes" ? `${most} bytes of exports` : `${most} exports`;
  return new AppError(
    "rate_limit_exceeded",
    `${who} may have ${text} at the same time; read or end one of them`,
    retry,
  );
}
