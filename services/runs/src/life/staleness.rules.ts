/** The columns that show when a run was last alive. */
export type LifeRow = {
  readonly status: string;
  readonly created_at: string;
  readonly resumed_at: string | null;
  /** The last write or poll that was reported. */
  readonly seen_at: string | null;
};

/** Decides which runs are stale: running, but without a sign of life for some time. */
export type Staleness = {
  /** Returns when a run was last seen, RFC 3339: its last write or poll, exact to a minute, or when it was created or resumed. */
  readonly lastSeenAt: (row: LifeRow) => string;
  readonly isStale: (row: LifeRow) => boolean;
  /** Running runs that were last seen before this are stale. RFC 3339. */
  readonly bound: () => string;
  /** Returns the instant this many milliseconds ago, never in the future. */
  readonly ago: (ms: number) => string;
};

/** Creates the rule of a service. All reads use its one clock, so that a row and a filter agree regardless of the clocks of gateways. */
export function createStaleness(options: { readonly staleMs: number; readonly nowMs: () => number }): Staleness {
  const { staleMs, nowMs } = options;
  const boundMs = (): number => nowMs() - staleMs;
  return {
    lastSeenAt,
    isStale: (row) => row.status === "running" && Date.parse(lastSeenAt(row)) < boundMs(),
    bound: () => new Date(boundMs()).toISOString(),
    ago: (ms) => new Date(nowMs() - Math.max(0, ms)).toISOString(),
  };
}

function lastSeenAt({ created_at, resumed_at, seen_at }: LifeRow): string {
  return [resumed_at, seen_at].reduce<string>(
    (latest, at) => (at !== null && Date.parse(at) > Date.parse(latest) ? at : latest),
    created_at,
  );
}
