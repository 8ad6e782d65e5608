import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { CompareRunsResponseSchema } from "@tidemark/proto/runs/v1/runs";
import { callerOf, isUuid } from "@tidemark/requests";
import { COMPARED_RUNS_MAX } from "@tidemark/limits";
import { finishInTurns, mapInTurns } from "@tidemark/work";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import type { Staleness } from "../life/staleness.rules.ts";
import { encodeRun } from "../read/encode-rows.ts";
import { listRunsById, type RunRow } from "../read/runs.sql.ts";
import { listMetricColumns, listNewestAttributes } from "./compare-runs.sql.ts";
import { COMPARISON_ROWS_MAX, startComparison, type Comparison } from "./comparison.rules.ts";
import { documentRows, tagRows } from "./member-rows.rules.ts";
import {
  COMPARED_FIGURES,
  attributeRows,
  startMetricRows,
  type MetricRows,
  type AttributeCell,
} from "./page-rows.rules.ts";

/** Maximum number of attribute paths of a run in one read. */
const PATHS_EACH = 1000;

/** Maximum bytes of attribute values in one read. */
const ATTRIBUTE_BYTES = 32 * 1024 * 1024;

/** Maximum number of metric keys of a run in one read: enough for all rows of a comparison, and a few that wait for the next page. */
const KEYS_EACH = Math.ceil((COMPARISON_ROWS_MAX + 1) / COMPARED_FIGURES.length) + 16;

/** Compares runs side by side (API specification, GET /api/runs/side-by-side). @throws bad_request, not_found */
export function compareRuns({ db, staleness }: RunsDeps): RunsHandlers["compareRuns"] {
  return async (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const ids = requireRunIds(request.runIds);
    return db.readTenant(orgId, async (tx) => {
      const runs = await listRunsById(tx, orgId, ids, projectId);
      if (runs.length < ids.length) throw notFound("run");
      const comparison = await compareSections(tx, orgId, runs, request);
      const reference = ids.find((id) => id === request.referenceRunId) ?? ids[0] ?? "";
      return encodeComparison(runs, staleness, reference, comparison);
    });
  };
}

function requireRunIds(runIds: readonly string[]): string[] {
  const ids = [...new Set(runIds)];
  if (ids.length < 1 || ids.length > COMPARED_RUNS_MAX) {
    throw badRequest(`run_ids must name 1 to ${COMPARED_RUNS_MAX} runs`, "run_ids");
  }
  if (!ids.every(isUuid)) throw badRequest("run_ids must be UUIDs", "run_ids");
  return ids;
}

/**
 * Compares runs, section by section in the order of their paths, until the comparison is full.
 * Attributes and metrics are read in pages, so that memory is bounded for all runs.
 */
async function compareSections(
  tx: Tx,
  orgId: string,
  runs: readonly RunRow[],
  options: { readonly diffOnly: boolean },
): Promise<Comparison> {
  const comparison = startComparison(options);
  // One run does not differ from itself.
  if (options.diffOnly && runs.length === 1) return comparison;
  const ids = runs.map(({ id }) => id);
  await compareAttributes(tx, orgId, ids, comparison);
  const configs = runs.map(({ config }) => config);
  const metadata = runs.map(({ metadata: document }) => document);
  if (
    (await finishInTurns(comparison.addTexts(documentRows("config/", configs)))) &&
    (await finishInTurns(comparison.addTexts(documentRows("metadata/", metadata))))
  ) {
    await compareMetrics(tx, orgId, ids, comparison);
  }
  // Counted before they are sorted, because a run may have a quarter of a million tags.
  if (comparison.look(runs.reduce((sum, run) => sum + run.tags.length, 0))) {
    const tags = runs.map((run) => run.tags);
    await finishInTurns(comparison.addTexts(tagRows("tag/", tags)));
  }
  return comparison;
}

async function compareAttributes(tx: Tx, orgId: string, ids: readonly string[], comparison: Comparison): Promise<void> {
  const limits = {
    rowsEach: PATHS_EACH,
    bytesEach: Math.floor(ATTRIBUTE_BYTES / ids.length),
    bytesAll: ATTRIBUTE_BYTES,
  };
  let after: string | undefined = "";
  while (after !== undefined && comparison.isOpen()) {
    const cells: AttributeCell[] = await listNewestAttributes(tx, orgId, ids, { after, ...limits });
    const { rows, reached, ended } = attributeRows("attribute/", ids.length, cells);
    await finishInTurns(comparison.addTexts(rows));
    // One path has more bytes than one read may return.
    if (reached === undefined && !ended) comparison.cut();
    after = ended ? undefined : reached;
  }
}

async function compareMetrics(tx: Tx, orgId: string, ids: readonly string[], comparison: Comparison): Promise<void> {
  const rowsOf = startMetricRows("metric/");
  let after: string | undefined = "";
  while (after !== undefined) {
    const columns = await listMetricColumns(tx, orgId, ids, { after, limit: KEYS_EACH });
    const { rows, reached }: MetricRows = rowsOf({ runs: columns, limit: KEYS_EACH });
    after = (await finishInTurns(comparison.addNumbers(rows))) ? reached : undefined;
  }
}

/** Encodes the comparison of runs. */
async function encodeComparison(
  runs: readonly RunRow[],
  staleness: Staleness,
  referenceRunId: string,
  comparison: Comparison,
): Promise<MessageInitShape<typeof CompareRunsResponseSchema>> {
  return {
    runs: await mapInTurns(runs, (run) => encodeRun(run, staleness)),
    referenceRunId,
    blocks: comparison.blocks.map(({ paths, different, texts, numbers }) => ({
      paths,
      different,
      valuesJson: texts,
      numbers,
    })),
    truncated: !comparison.isOpen(),
  };
}
