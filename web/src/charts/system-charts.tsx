import { useMemo, useRef } from "preact/hooks";
import { EmptyState, ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { useWidth } from "../ui/use-width.ts";
import "./charts.css";
import { isSystemKey, systemSections } from "./keys/system-charts.ts";
import { useCatalogue } from "./keys/use-catalogue.ts";
import { useVisibleLines } from "./look/run-look.ts";
import { createVisibleCards } from "./section/card-grid.tsx";
import { useChartState, type ChartContext, type ChartRun, type ShownChart } from "./section/chart-context.ts";
import { ChartFlow, type FlowSection } from "./section/chart-flow.tsx";
import { useNews } from "./section/use-lines.ts";
import type { ChartState } from "./state/chart-state.ts";
import { createLink } from "./view/chart-pointer.ts";

const CHARTS_MAX = 24;
const NO_KEYS: readonly string[] = [];
/** Steps of training say little about a machine, and the SDK counts those of its uploads in another way. */
const USUAL_X = "relative";

/** The metrics of a run's machine over the time since it started: a chart for each quantity, with a line for each device. */
export function SystemCharts({
  project,
  run,
  live,
}: {
  readonly project: ChartContext["project"];
  readonly run: ChartRun;
  /** Follows what a running run logs. */
  readonly live: boolean;
}) {
  const { state, change } = useChartState(undefined, USUAL_X);
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const link = useMemo(createLink, []);
  const visibleCards = useMemo(() => createVisibleCards(CHARTS_MAX), []);
  const runs = useMemo(() => [run], [run]);
  const runIds = useMemo(() => [run.id], [run.id]);
  const news = useNews(project.id, runIds, live && run.running);
  useVisibleLines(project.id, runIds);
  const { names, error } = useCatalogue(project.id, "metric", runIds, true, news);
  const keys = useMemo(() => names?.filter(isSystemKey), [names]);
  const sections = useMemo(() => flowSections(keys ?? NO_KEYS, state), [keys, state.closed.join("\n")]);
  const context: ChartContext = {
    project,
    runs,
    state,
    change,
    link,
    highlight: undefined,
    onHighlight: () => undefined,
    news,
    metricKeys: NO_KEYS,
    configKeys: NO_KEYS,
  };
  return (
    <section ref={place} class="tm-charts" aria-label="System">
      <ErrorNote error={error} />
      {keys === undefined && error === undefined && <Skeleton height="220px" />}
      {keys?.length === 0 && (
        <EmptyState title="No system metrics" icon="chart">
          The Python package logs GPU, CPU, memory, disk and network by itself where psutil is installed. Other metrics
          whose names begin with system/ appear here as well.
        </EmptyState>
      )}
      <ChartFlow sections={sections} context={context} visibleCards={visibleCards} width={width} />
    </section>
  );
}

function flowSections(keys: readonly string[], { closed }: ChartState): FlowSection[] {
  return systemSections(keys).map(({ name, charts }) => ({
    id: name,
    label: name,
    isOpen: !closed.includes(name),
    charts: charts.map(({ title, keys: [first, ...also], devices, isPercent }): ShownChart => {
      const range = isPercent ? { yMin: 0, yMax: 100 } : {};
      return { key: first!, also, title, size: 1, ...range, nameOf: (key) => devices.get(key), isFixed: true };
    }),
  }));
}
