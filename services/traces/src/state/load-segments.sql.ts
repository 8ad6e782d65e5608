import { binarySql, sql, type Tx } from "@tidemark/pg";
import { readTree } from "@tidemark/codecs/spans";
import { mapInTurns } from "@tidemark/work";
import type { TraceKey, TraceState } from "./trace-state.rules.ts";

/** The data of a trace row about its segments. */
export type TraceVersion = { readonly version: number; readonly segments: number; readonly updatedUs: number };

const versionSql = sql(
  "traces_find_trace_version",
  `SELECT version, segments, updated_us AS "updatedUs" FROM traces.traces WHERE org_id = $1 AND trace_id = $2 AND run_id = $3`,
);

/** Returns the version of a trace, if there is one. */
function findTraceVersion(tx: Tx, key: TraceKey): Promise<TraceVersion | undefined> {
  return tx.one(versionSql, [key.orgId, key.traceId, key.runId]);
}

const treesSql = binarySql(
  "traces_list_trees",
  `SELECT id, tree FROM traces.segments
   WHERE org_id = $1 AND trace_id = $2 AND run_id = $3 AND id > $4 ORDER BY id`,
);

/**
 * Folds the records stored since into a state, with one statement. Compacted segments in the place of others that the state has already do no harm: they
 * hold the same data. Returns false when there is no such trace. `tx` sees one moment.
 */
export async function catchUp(tx: Tx, key: TraceKey, state: TraceState): Promise<boolean> {
  const stored = await findTraceVersion(tx, key);
  if (stored === undefined) return false;
  if (stored.version > state.version) {
    const trees: { readonly id: number; readonly tree: Uint8Array }[] = [];
    // Copies, because the memory is used again. Many that are packed well arrive together, and would all be folded before other work has its turn.
    await tx.each<{ id: number; tree: Uint8Array }>(
      treesSql,
      [key.orgId, key.traceId, key.runId, state.version],
      ({ id, tree }) => trees.push({ id, tree: Uint8Array.from(tree) }),
    );
    await mapInTurns(trees, ({ id, tree }) => readTree(tree, (record, place) => state.fold.fold(record, id, place)));
    state.fold.settle();
    state.version = stored.version;
    state.segments = stored.segments;
    state.updatedUs = stored.updatedUs;
  }
  return true;
}
