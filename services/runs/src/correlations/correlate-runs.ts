import { columnName, readColumn, type Column, type MetricColumn } from "@tidemark/values/run-search";
import { badRequest } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import { nextTurn } from "@tidemark/work";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { fieldOfChoice, withChosenRuns } from "../select/select-runs.ts";
import { correlate, type Correlation } from "./correlation.rules.ts";
import { readConfigNumbers, readNumericColumns, type NumericColumn } from "./numeric-columns.ts";
import { weighConfigs } from "../columns/config-values.sql.ts";

/** Maximum number of runs in a request. */
export const CORRELATED_RUNS_MAX = 10_000;
/** Maximum number of columns that are correlated with the metric. */
export const CORRELATED_COLUMNS_MAX = 300;
/** Maximum bytes of the configs of the runs in a request. */
const CONFIG_BYTES_MAX = 128 * 1024 * 1024;

type Found = NumericColumn & Correlation;

/**
 * RunsService.CorrelateRuns: how numbers of configs, attributes and metrics correlate with one metric.
 * @throws bad_request, not_found when a named run is not visible, run_search_invalid, run_search_too_broad
 */
export function correlateRuns(deps: RunsDeps): RunsHandlers["correlateRuns"] {
  return async (request, call) => {
    const metric = requireMetric(request.metric);
    const columns = requireColumns(request.columns);
    const read = async (tx: Tx, orgId: string, ids: readonly string[]) => {
      if ((await weighConfigs(tx, orgId, ids)) > CONFIG_BYTES_MAX) {
        throw badRequest(
          `these runs have more than ${CONFIG_BYTES_MAX / 1024 / 1024} MiB of configs; ask for fewer`,
          fieldOfChoice(request),
        );
      }
      const [target] = await readNumericColumns(tx, orgId, ids, [metric]);
      const others =
        columns.length > 0
          ? await readNumericColumns(tx, orgId, ids, columns)
          : await readConfigNumbers(tx, orgId, ids);
      return { runs: ids.length, target: target!.numbers, others };
    };
    const { runs, target, others } = await withChosenRuns(deps, call, request, CORRELATED_RUNS_MAX, read);

    const found: Found[] = [];
    for (const column of others) {
      // The ranks of 10,000 runs take some milliseconds.
      await nextTurn();
      found.push({ ...column, ...correlate(column.numbers, target) });
    }
    const shown = columns.length > 0 ? found : found.toSorted(strongestFirst).slice(0, CORRELATED_COLUMNS_MAX);
    return {
      metric: columnName(metric),
      runCount: runs,
      correlations: shown.map(({ name, runs: both, pearson, spearman }, i) => ({
        column: request.columns[i] ?? name,
        runCount: both,
        ...(pearson === undefined ? {} : { pearson }),
        ...(spearman === undefined ? {} : { spearman }),
      })),
    };
  };
}

/** Orders by the size of the rank coefficient, to nine digits, columns without one last, then by name. */
function strongestFirst(a: Found, b: Found): number {
  const strength = ({ spearman }: Found): number =>
    spearman === undefined ? -1 : Math.round(Math.abs(spearman) * 1e9);
  return strength(b) - strength(a) || (a.name < b.name ? -1 : 1);
}

function requireMetric(text: string): MetricColumn {
  const column = readColumn(text.startsWith("metrics.") ? text : `metrics.${text}`);
  if (column?.kind !== "metrics")
    throw badRequest("metric must be a metric key, perhaps with .latest, .best, .min, .max, .mean or .count", "metric");
  return column;
}

function requireColumns(names: readonly string[]): readonly Column[] {
  if (names.length > CORRELATED_COLUMNS_MAX)
    throw badRequest(`columns must name at most ${CORRELATED_COLUMNS_MAX} columns`, "columns");
  return names.map((name) => {
    const column = readColumn(name);
    if (column === undefined)
      throw badRequest("columns must be config.<path>, metrics.<key> or attributes.<path>", "columns");
    return column;
  });
}
