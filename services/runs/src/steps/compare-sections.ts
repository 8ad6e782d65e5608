import type { Tx } from "@tidemark/pg";
import { attributeRows } from "../domain/compare-attributes.ts";
import { documentRows, tagRows } from "../domain/compare-members.ts";
import { COMPARED_FIGURES, startMetricRows, type MetricRows } from "../domain/compare-metrics.ts";
import { COMPARISON_ROWS_MAX, startComparison, type Comparison } from "../domain/comparison.ts";
import type { RunRow } from "../read/runs.sql.ts";
import { listMetricColumns } from "../store/list-metric-columns.ts";
import { listNewestAttributes, type NewestAttribute } from "../store/list-newest-attributes.ts";

/** Most paths of a run that are read at once. */
const PATHS_EACH = 1000;

/** Most bytes of attribute values that are read at once. */
const ATTRIBUTE_BYTES = 32 * 1024 * 1024;

// So many keys make all the rows that there can be, and some that have to wait for the next page.
const KEYS_EACH = Math.ceil((COMPARISON_ROWS_MAX + 1) / COMPARED_FIGURES.length) + 16;

/**
 * Compares runs, section by section in the order of their paths, until there is no room for more
 * rows. Attributes and metrics are read in pages, so that what is in memory at once is bounded
 * whatever the runs hold.
 */
export async function compareSections(
  tx: Tx,
  orgId: string,
  runs: readonly RunRow[],
  options: { readonly diffOnly: boolean },
): Promise<Comparison> {
  const comparison = startComparison(options);
  // One run differs in nothing from itself.
  if (options.diffOnly && runs.length === 1) return comparison;
  const ids = runs.map(({ id }) => id);
  await compareAttributes(tx, orgId, ids, comparison);
  const configs = runs.map(({ config }) => config);
  const metadata = runs.map(({ metadata: document }) => document);
  if (
    comparison.addTexts(documentRows("config/", configs)) &&
    comparison.addTexts(documentRows("metadata/", metadata))
  ) {
    await compareMetrics(tx, orgId, ids, comparison);
  }
  // Counted before they are sorted: a run may have a quarter of a million.
  if (comparison.look(runs.reduce((sum, { tags }) => sum + tags.length, 0))) {
    comparison.addTexts(
      tagRows(
        "tag/",
        runs.map(({ tags }) => tags),
      ),
    );
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
    const cells: NewestAttribute[] = await listNewestAttributes(tx, orgId, ids, { after, ...limits });
    const { rows, reached, ended } = attributeRows("attribute/", ids.length, cells);
    comparison.addTexts(rows);
    // One path alone holds more than may be read at once.
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
    after = comparison.addNumbers(rows) ? reached : undefined;
  }
}
