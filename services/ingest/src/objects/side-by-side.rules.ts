/** A key of a run, and the kind of its last object. */
export type FoundKey = { readonly runId: string; readonly key: string; readonly kind: string };

/** The steps of a key in some runs, ascending; `cut`: only the last ones of a run are among them. */
export type KeySteps = { readonly key: string; readonly steps: readonly number[]; readonly cut: boolean };

/** The keys of some runs, in the order of code points; `truncated`: a run may have more. */
export type FoundKeys = {
  readonly keys: {
    readonly key: string;
    readonly kinds: string[];
    readonly runIds: string[];
    readonly steps: number[];
    readonly stepsTruncated: boolean;
  }[];
  readonly truncated: boolean;
};

/** Puts the keys of `runIds` together. `keysMax`: how many were read of each run at most. */
export function foundKeys(
  runIds: readonly string[],
  found: readonly FoundKey[],
  steps: readonly KeySteps[],
  keysMax: number,
): FoundKeys {
  const stepsOf = new Map(steps.map((one) => [one.key, one]));
  const keys = [...Map.groupBy(found, ({ key }) => key)].map(([key, ofRuns]) => ({
    key,
    kinds: [...new Set(ofRuns.map(({ kind }) => kind))].toSorted(),
    runIds: runIds.filter((id) => ofRuns.some(({ runId }) => runId === id)),
    steps: [...(stepsOf.get(key)?.steps ?? [])],
    stepsTruncated: stepsOf.get(key)?.cut ?? false,
  }));
  const counts = Map.groupBy(found, ({ runId }) => runId).values();
  return {
    keys: keys.toSorted((a, b) => (a.key < b.key ? -1 : 1)),
    truncated: [...counts].some((ofRun) => ofRun.length >= keysMax),
  };
}
