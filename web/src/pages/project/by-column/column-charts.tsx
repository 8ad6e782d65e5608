import { useMemo, useState } from "preact/hooks";
import { exactJson } from "../../../api/exact-json.ts";
import { currentLocation, setQuery } from "../../../app/location.tsx";
import { ParallelCoordinates } from "../../../charts/columns/parallel-coordinates.tsx";
import { Scatter } from "../../../charts/columns/scatter.tsx";
import { useCatalogue } from "../../../charts/keys/use-catalogue.ts";
import { Button } from "../../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { counted } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { columnLabel } from "../table/columns.ts";
import type { TableRun } from "../runs/shown-runs.ts";
import { RUNS_DRAWN_MAX, useRunColumns } from "../runs/use-runs.ts";
import { axesOf, byOf, choiceOf, queryOfChoice, type ColumnChoice } from "./choice.ts";
import { ColumnControls } from "./column-controls.tsx";
import { Importance, useCorrelations } from "./importance.tsx";

const NO_RUNS: readonly string[] = [];

/** What drives a metric: which parameters correlate with it, the runs by one of them, and the runs over several. */
export function ColumnCharts({
  project,
  q,
  version,
  highlight,
  onHighlight,
  onOpen,
  onSelect,
}: {
  readonly project: { readonly id: string; readonly name: string };
  /** The search of the table. */
  readonly q: string;
  /** Grows when runs change. */
  readonly version: number;
  readonly highlight: string | undefined;
  readonly onHighlight: (id: string | undefined) => void;
  readonly onOpen: (id: string) => void;
  readonly onSelect: (runs: readonly TableRun[]) => void;
}) {
  const { query } = currentLocation.value;
  const choice = useMemo(() => choiceOf(query), [query.toString()]);
  const change = (changes: Partial<ColumnChoice>): void =>
    setQuery(queryOfChoice({ ...choiceOf(currentLocation.peek().query), ...changes }), { replace: true });
  const metrics = useCatalogue(project.id, "metric", NO_RUNS, true, 0);
  const configs = useCatalogue(project.id, "config", NO_RUNS, true, 0);
  const [brushed, setBrushed] = useState<readonly string[] | undefined>(undefined);
  const first = metrics.names?.[0];
  const of = choice.of ?? (first === undefined ? undefined : `metrics.${first}.best`);
  const correlations = useCorrelations(project.name, q, of);
  const ranked = correlations.ranked ?? [];
  const isReady =
    of !== undefined && configs.names !== undefined && (correlations.ranked ?? correlations.error) !== undefined;
  const by = isReady ? byOf(choice, ranked, configs.names) : undefined;
  const axes = isReady ? axesOf(choice, of, ranked, configs.names) : [];
  const columns = [
    ...new Set([...axes, ...(by === undefined ? [] : [by]), ...(choice.tint === undefined ? [] : [choice.tint])]),
  ];
  const { runs, total, error, retry } = useRunColumns(project.name, q, columns, version, isReady);
  const points = useMemo(
    () =>
      (runs ?? []).map((run) => ({
        id: run.id,
        name: run.name,
        x: numberOf(run, by),
        y: numberOf(run, of),
        ...(choice.tint === undefined ? {} : { by: numberOf(run, choice.tint) }),
      })),
    [runs, by, of, choice.tint],
  );
  const axesName = axes.join("\n");
  const parallel = useMemo(
    () => ({
      columns: axes.map((name) => ({
        name: columnLabel(name),
        log: name === of ? choice.ofLog : name === by && choice.byLog,
      })),
      runs: (runs ?? []).map((run) => ({ id: run.id, name: run.name, values: axes.map((name) => valueOf(run, name)) })),
    }),
    [runs, axesName, of, by, choice.ofLog, choice.byLog],
  );

  if (metrics.names?.length === 0)
    return (
      <EmptyState title="No metrics yet" icon="chart">
        Runs are drawn over their parameters as soon as one logs a metric.
      </EmptyState>
    );
  if (of === undefined)
    return metrics.error === undefined ? <Skeleton height="220px" /> : <ErrorNote error={metrics.error} />;
  const chosen = (runs ?? []).filter(({ id }) => brushed?.includes(id));
  return (
    <section class="tm-by-column" aria-label="Charts by columns">
      <ColumnControls
        choice={choice}
        of={of}
        by={by}
        axes={axes.filter((name) => name !== of)}
        metricKeys={metrics.names ?? []}
        configKeys={configs.names ?? []}
        onChange={change}
      />
      <ErrorNote error={metrics.error ?? configs.error} />
      <ErrorNote error={correlations.error} onRetry={correlations.retry} />
      <ErrorNote error={error} onRetry={retry} />
      {correlations.ranked === undefined && correlations.error === undefined && <Skeleton height="24px" lines={4} />}
      {correlations.ranked !== undefined && (
        <Importance
          metric={of}
          ranked={ranked}
          runs={correlations.runs}
          chosen={by}
          onChoose={(column) => change({ by: column })}
        />
      )}
      {total > RUNS_DRAWN_MAX && (
        <p class="tm-muted">{`The newest ${counted(RUNS_DRAWN_MAX, "run")} of ${counted(total, "run")} are drawn. A search chooses others.`}</p>
      )}
      {by !== undefined && (
        <Scatter
          xLabel={columnLabel(by)}
          yLabel={columnLabel(of)}
          byLabel={choice.tint === undefined ? undefined : columnLabel(choice.tint)}
          xLog={choice.byLog}
          yLog={choice.ofLog}
          runs={points}
          highlight={highlight}
          onHighlight={onHighlight}
          onOpen={onOpen}
        />
      )}
      {axes.length > 1 && (
        <>
          <ParallelCoordinates {...parallel} onSelect={setBrushed} />
          {chosen.length > 0 && (
            <Button onClick={() => onSelect(chosen)}>{`Select ${counted(chosen.length, "run")} in the table`}</Button>
          )}
        </>
      )}
    </section>
  );
}

function valueOf(run: TableRun, name: string): number | string | null {
  const value = run.columns?.[name];
  if (typeof value === "number" || typeof value === "string") return value;
  return value === undefined || value === null ? null : exactJson(value);
}

function numberOf(run: TableRun, name: string | undefined): number | null {
  const value = name === undefined ? undefined : run.columns?.[name];
  // Two integers that a pixel cannot tell apart have one place.
  return typeof value === "number" || typeof value === "bigint" ? Number(value) : null;
}
