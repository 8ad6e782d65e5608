import { nextTurn, stopIfOver } from "@tidemark/work";
import { badRequest } from "@tidemark/errors";
import { RUNS_PAGE_ROWS } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { readFigures } from "../columns/column-values.sql.ts";
import { weighConfigs } from "../columns/config-values.sql.ts";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { fieldOfChoice, withChosenRuns } from "../select/select-runs.ts";
import { createGrouping, readGroupBy, type Group, type GroupBy } from "./grouping.rules.ts";
import { readGroupValues, type GroupValues } from "./read-values.ts";

/** Maximum number of groups in a request. */
export const GROUPS_MAX = 200;
/** Maximum bytes of the configs of the runs in a request. */
const CONFIG_BYTES_MAX = 32 * 1024 * 1024;
/** Number of runs whose figures are read at a time. */
const PORTION = 100;

/**
 * RunsService.GroupRuns: runs by the values of their columns.
 * @throws bad_request, not_found when a named run is not visible, run_search_invalid, run_search_too_broad
 */
export function groupRuns(deps: RunsDeps): RunsHandlers["groupRuns"] {
  return async (request, call) => {
    const by = readGroupBy(request.by ?? { names: [], allBut: false });
    const { keys } = request;
    const read = async (tx: Tx, orgId: string, ids: readonly string[]) => {
      if (needsConfigs(by) && (await weighConfigs(tx, orgId, ids)) > CONFIG_BYTES_MAX) {
        throw badRequest(
          `these runs have more than ${CONFIG_BYTES_MAX / 1024 / 1024} MiB of configs; ask for fewer`,
          fieldOfChoice(request),
        );
      }
      const values = await readGroupValues(tx, orgId, ids, by);
      const groups = await groupsOf(values);
      return { ids, groups, columns: values.columns, figures: await readAll(tx, orgId, ids, keys) };
    };
    const { ids, groups, columns, figures } = await withChosenRuns(deps, call, request, RUNS_PAGE_ROWS.max, read);
    return {
      columns: [...columns],
      groups: groups.map(({ values, runs }) => ({
        valuesJson: [...values],
        runIds: runs.map((run) => ids[run]!),
        latest: keys.flatMap((_, key) => runs.map((run) => figures.latest[run * keys.length + key]!)),
        best: keys.flatMap((_, key) => runs.map((run) => figures.best[run * keys.length + key]!)),
      })),
    };
  };
}

function needsConfigs(by: GroupBy): boolean {
  return by.kind === "all but" || by.columns.some((column) => column !== "tags");
}

/** Number of characters of values compared without a break. */
const TURN_CHARS = 262_144;

async function groupsOf({ rows }: GroupValues): Promise<readonly Group[]> {
  const grouping = createGrouping();
  let chars = 0;
  for (const row of rows) {
    if (grouping.add(row) > GROUPS_MAX)
      throw badRequest(`these runs are more than ${GROUPS_MAX} groups; group by fewer columns`, "by");
    for (const value of row) chars += value.length + 40;
    if (chars < TURN_CHARS) continue;
    chars = 0;
    await nextTurn();
  }
  return grouping.groups();
}

/** Reads the latest and the best values of keys, run after run; NaN where a run has none. */
async function readAll(tx: Tx, orgId: string, ids: readonly string[], keys: readonly string[]) {
  const [latest, best] = [1, 2].map(() => new Float64Array(ids.length * keys.length).fill(Number.NaN)) as [
    Float64Array,
    Float64Array,
  ];
  for (let from = 0; from < ids.length && keys.length > 0; from += PORTION) {
    stopIfOver();
    const found = await readFigures(tx, orgId, ids.slice(from, from + PORTION), keys);
    for (const [run, figures] of found.entries()) {
      for (const [at, place] of figures.places.entries()) {
        latest[(from + run) * keys.length + place] = figures.latest[at]!;
        best[(from + run) * keys.length + place] = figures.best[at]!;
      }
    }
  }
  return { latest, best };
}
