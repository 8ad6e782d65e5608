/** A run of another tracker. Documents are compact JSON texts; times are microseconds since the epoch, null for none. */
export type SourceRun = {
  /** Its id at the source. */
  readonly id: string;
  readonly name: string;
  readonly status: "running" | "finished" | "failed";
  readonly config: string;
  readonly tags: readonly string[];
  readonly metadata: string;
  readonly startedUs: number | null;
  readonly finishedUs: number | null;
};

/** An attribute. `source` is an index of the content's `sources`. */
export type SourceAttribute = {
  readonly source: number;
  readonly path: string;
  readonly type: string;
  readonly step: number | null;
  readonly timeUs: number | null;
  readonly value: string;
  readonly summary: string;
};

/** A reference to a file that stays where it is. */
export type SourceArtifact = {
  readonly source: number;
  readonly name: string;
  readonly type: "checkpoint" | "rollout" | "file";
  readonly uri: string;
  readonly step: number | null;
  readonly sizeBytes: number | null;
  readonly mimeType: string;
  readonly metadata: string;
};

/** Values as columns of one length, in the order in which they were sent. */
type SourcePoints = {
  /** Indexes of the content's `sources` and `keys`. */
  readonly sources: Uint32Array;
  readonly keys: Uint32Array;
  readonly steps: Float64Array;
  readonly values: Float64Array;
  /** Microseconds since the epoch, NaN for none. */
  readonly timesUs: Float64Array;
};

/** A part of an import: the content of a chunk or of a document. */
export type Content = {
  readonly runs: readonly SourceRun[];
  /** Ids at the source of the runs that points, attributes and artifacts belong to; each one once. */
  readonly sources: readonly string[];
  /** Metric keys; each one once. */
  readonly keys: readonly string[];
  readonly points: SourcePoints;
  readonly attributes: readonly SourceAttribute[];
  readonly artifacts: readonly SourceArtifact[];
};

/** An omission, or a note that the client wants to be shown. */
export type ImportWarning = { readonly code: string; readonly message: string };

/** Counts omitted items. */
export type Skipped = {
  /** Counts one more for this reason. */
  add(code: string): void;
  /** Returns how many items were omitted. */
  count(): number;
  /** Returns one warning for each reason. */
  warnings(): ImportWarning[];
};

/** Begins to count. */
export function createSkipped(): Skipped {
  const counts = new Map<string, number>();
  return {
    add: (code) => void counts.set(code, (counts.get(code) ?? 0) + 1),
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    warnings: () => [...counts].map(([code, count]) => ({ code, message: `${count} skipped` })),
  };
}
