/** An import and a run that it stored or added to. */
export type RunImport = { readonly jobId: number; readonly runId: string };

/** An import with its runs that the export has, in the order of the export. */
export type ImportOfRuns = { readonly jobId: number; readonly runIds: readonly string[] };

/** Returns imports newest first, at most `max`, and whether there are more. */
export function newestImports(
  found: readonly RunImport[],
  max: number,
): { readonly imports: readonly ImportOfRuns[]; readonly more: boolean } {
  const byJob = Map.groupBy(found, ({ jobId }) => jobId);
  const newest = [...byJob.keys()].toSorted((a, b) => b - a);
  return {
    imports: newest
      .slice(0, max)
      .map((jobId) => ({ jobId, runIds: [...new Set(byJob.get(jobId)!.map(({ runId }) => runId))] })),
    more: newest.length > max,
  };
}
