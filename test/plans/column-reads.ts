/** Reads of series as columns: of two keys in eleven runs, in every way that makes another statement. */
export const columnReads = [
  { buckets: 4 },
  { buckets: 4, start_step: 10, end_step: 20, edges: true },
  { limit: 3, x: "relative", lineage: true, smoothing: { kind: "ema", parameter: 0.5 } },
].map((how) => ({
  name: `series as columns, ${Object.keys(how).join(", ")}`,
  method: "POST" as const,
  path: () => "/api/metrics/series",
  body: ({ full, page }: { readonly full: string; readonly page: readonly string[] }) => ({
    format: "columns",
    keys: ["loss", "lr"],
    run_ids: [full, ...page],
    ...how,
  }),
  items: () => 22,
  each: 4,
  base: 20,
}));
