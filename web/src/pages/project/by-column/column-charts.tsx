import { metricDirection } from "@tidemark/values/metric-direction";
import { useMemo } from "preact/hooks";
import { exactJson } from "../../../api/exact-json.ts";
import { runAddress } from "../../../app/addresses.ts";
import { currentLocation, Link, setQuery } from "../../../app/location.tsx";
import { ParallelCoordinates } from "../../../charts/columns/parallel-coordinates.tsx";
import { Scatter } from "../../../charts/columns/scatter.tsx";
import { useCatalogue } from "../../../charts/keys/use-catalogue.ts";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { counted } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { useLast } from "../../../ui/use-last.ts";
import { columnLabel, columnSource, valueWords } from "../table/columns.ts";
import type { TableRun } from "../runs/shown-runs.ts";
import { RUNS_DRAWN_MAX, useRunColumns } from "../runs/use-runs.ts";
import { AXES_USUAL, axesOf, byOf, choiceOf, firstMetric, queryOfChoice, type ColumnChoice } from "./choice.ts";
import { ColumnControls } from "./column-controls.tsx";
import { categoryEffect, type Effect } from "./effect.ts";
import { Importance, rankingsOf, useCorrelations, ValueGroups } from "./importance.tsx";

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
  const first = firstMetric(metrics.names ?? []);
  const of = choice.of ?? (first === undefined ? undefined : `metrics.${first}.best`);
  const correlations = useCorrelations(project.id, q, of);
  const numbers = correlations.ranked;
  const isReady = of !== undefined && configs.names !== undefined && (numbers ?? correlations.error) !== undefined;
  const categories = isReady ? categoriesOf(configs.names, numbers ?? []) : [];
  const wanted = [
    of,
    choice.by,
    choice.tint,
    ...choice.axes,
    ...(numbers ?? []).slice(0, AXES_USUAL).map(({ column }) => column),
  ];
  const columns = [...new Set([...wanted.filter((name) => name !== undefined), ...categories])].toSorted();
  const { runs: found, total, error, retry } = useRunColumns(project.id, q, columns, version, isReady);
  // While other columns are read, those before stay.
  const runs = useLast(found);
  const ranked = useMemo(() => {
    const metric = (runs ?? []).map((run) => numberOf(run, of));
    const effects = categories.flatMap((column): (readonly [string, Effect])[] => {
      const effect = categoryEffect(
        (runs ?? []).map((run) => run.columns?.[column]),
        metric,
      );
      return effect === undefined ? [] : [[column, effect]];
    });
    return rankingsOf(numbers ?? [], effects);
  }, [runs, numbers, categories.join("\n")]);
  const by = isReady ? byOf(choice, ranked, configs.names) : undefined;
  const byRanking = ranked.find(({ column }) => column === by);
  const axes = isReady ? axesOf(choice, of, ranked, configs.names) : [];
  const source = of === undefined ? undefined : columnSource(of);
  const direction = (source?.kind === "metric" ? metricDirection(source.key) : undefined) ?? "max";
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
  const overTime = useMemo(
    () =>
      (runs ?? []).map((run) => ({ id: run.id, name: run.name, x: Date.parse(run.created_at), y: numberOf(run, of) })),
    [runs, of],
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
      <BestRun project={project.name} of={of} runs={overTime} direction={direction} />
      <Scatter
        title={`Best so far: ${columnLabel(of)}`}
        xLabel="Created"
        yLabel={columnLabel(of)}
        xKind="clock"
        yLog={choice.ofLog}
        best={direction}
        runs={overTime}
        height={220}
        highlight={highlight}
        onHighlight={onHighlight}
        onOpen={onOpen}
      />
      {correlations.ranked !== undefined && runs !== undefined && (
        <Importance
          metric={of}
          ranked={ranked}
          runs={correlations.runs}
          chosen={by}
          onChoose={(column) => change({ by: column })}
        />
      )}
      {total > RUNS_DRAWN_MAX && (
        <p class="tm-muted">{`The newest ${counted(RUNS_DRAWN_MAX, "run")} of ${counted(total, "run")} are drawn. Search to choose others.`}</p>
      )}
      {by !== undefined && byRanking?.kind === "category" && (
        <ValueGroups column={by} metric={of} groups={byRanking.groups} />
      )}
      {by !== undefined && byRanking?.kind !== "category" && (
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
        <ParallelCoordinates
          title="Parallel coordinates"
          {...parallel}
          onSelect={(ids) => onSelect((runs ?? []).filter(({ id }) => ids?.includes(id)))}
        />
      )}
    </section>
  );
}

/** Categorical parameters whose effect is looked at: with the other columns as many as the API looks up. */
const CATEGORIES_MAX = 24;

/** Returns the parameters that are not numbers, or that are the same in all runs. */
const categoriesOf = (names: readonly string[], numbers: readonly { readonly column: string }[]): readonly string[] => {
  const known = new Set(numbers.map(({ column }) => column));
  return names
    .map((name) => `config.${name}`)
    .filter((column) => !known.has(column) && !column.includes(","))
    .slice(0, CATEGORIES_MAX);
};

/** The best run, with a link to it. */
function BestRun({
  project,
  of,
  runs,
  direction,
}: {
  readonly project: string;
  readonly of: string;
  readonly runs: readonly { readonly id: string; readonly name: string; readonly y: number | null }[];
  readonly direction: "min" | "max";
}) {
  const known = runs.filter(({ y }) => y !== null && Number.isFinite(y));
  const sign = direction === "max" ? -1 : 1;
  const [best] = known.toSorted((a, b) => sign * (a.y! - b.y!));
  if (best === undefined) return null;
  return (
    <p>
      {direction === "max" ? "Highest" : "Lowest"} {columnLabel(of)} of {counted(known.length, "run")}:{" "}
      <strong class="tm-number">{valueWords(best.y)}</strong>,{" "}
      <Link href={runAddress(project, best.id)}>{best.name}</Link>
    </p>
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
