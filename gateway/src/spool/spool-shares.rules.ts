import { AppError } from "@tidemark/errors";

/** The owner of an export: the organization, and the requesting credential. */
export type Party = { readonly orgId: string; readonly caller: string };

/** The space of one export. */
export type Held = Party & {
  readonly bytes: number;
  /** A request is using it. */
  readonly isInUse: boolean;
};

/** A request for more space: one more export, or more bytes of one. */
export type SpoolRequest = { readonly bytes: number; readonly exports: 0 | 1 };

/** Bounds of all exports together. */
export type SpoolBounds = { readonly bytes: number; readonly exports: number };

/** Share of all bytes that one organization may take. */
const ORGANIZATION_BYTES = 1 / 4;
/** Shares of all exports that one organization, and one caller, may have. */
const [ORGANIZATION_EXPORTS, CALLER_EXPORTS] = [1 / 8, 1 / 16];

/** The resource that has run out, and whose share it was. */
export type Refusal = {
  readonly whose: "caller" | "organization" | "everybody";
  readonly what: "bytes" | "exports";
  readonly most: number;
};

/**
 * Decides which exports to drop so that a party's request fits. `held` begins with the least recently used. Exports in use stay, and a party that
 * is at the share of its organization gives up its own exports. Returns the exports to drop, or what has run out.
 */
export function makeRoom<T extends Held>(
  held: readonly T[],
  party: Party,
  request: SpoolRequest,
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
    let bytes = left.reduce((sum, one) => sum + one.bytes, request.bytes);
    let exports = left.length + request.exports;
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

/** Returns the error that says what has run out. */
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
