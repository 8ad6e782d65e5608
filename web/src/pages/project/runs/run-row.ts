import type { RunRow } from "../../../api/run-types.ts";

/** A run of the table with the columns that were asked for. */
export type TableRun = RunRow & { readonly columns?: Readonly<Record<string, unknown>> };

/** A page of the table. */
export type RunsPage = { readonly runs: readonly TableRun[]; readonly total: number };

/** The parts of a table's state that choose its runs. */
export type RunsRequest = {
  readonly project: string;
  readonly q: string;
  readonly sortBy: string;
  readonly dir: "asc" | "desc";
  readonly columns: readonly string[];
};

/** Returns the path that reads rows of the table from an offset. */
export function runsPath({ project, q, sortBy, dir, columns }: RunsRequest, offset: number, limit: number): string {
  const query = new URLSearchParams({
    project,
    projection: "selection",
    limit: String(limit),
    sort_by: sortBy,
    sort_dir: dir,
  });
  if (offset > 0) query.set("cursor", `offset:${offset}`);
  if (q.trim() !== "") query.set("q", q);
  if (columns.length > 0) query.set("columns", columns.join(","));
  return `/api/runs/summary?${query}`;
}

/** Runs that one search by ids finds: it may have 512 bytes. */
const IDS_TOGETHER = 10;

/** Returns the paths that read runs by their ids, wherever they are in the table, with the columns of the table. */
export function idsPaths(ids: readonly string[], request: RunsRequest): readonly string[] {
  return Array.from({ length: Math.ceil(ids.length / IDS_TOGETHER) }, (_, i) => {
    const some = ids.slice(i * IDS_TOGETHER, (i + 1) * IDS_TOGETHER);
    const q = some.map((id) => `id:${id}`).join(" OR ");
    return runsPath({ ...request, q, sortBy: "created", dir: "desc" }, 0, IDS_TOGETHER);
  });
}

/** Returns how long a run took, in milliseconds; one that has not ended counts until `now`, which is called only then, or its last sign of life. */
export function durationMs(run: TableRun, now: () => number): number {
  const end = run.finished_at ?? (run.stale ? run.last_seen_at : undefined);
  return Math.max(0, (end === undefined ? now() : Date.parse(end)) - Date.parse(run.started_at));
}
