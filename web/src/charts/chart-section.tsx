import { useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../app/keys.ts";
import { Button } from "../ui/button.tsx";
import { EmptyState, ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { useWidth } from "../ui/use-width.ts";
import "./charts.css";
import { inOrder } from "./keys/order.ts";
import { keyMatch, openAtFirst, sectionsOf } from "./keys/sections.ts";
import { isSystemKey } from "./keys/system-charts.ts";
import { useCatalogue } from "./keys/use-catalogue.ts";
import { lineLook, useVisibleLines } from "./look/run-look.ts";
import { createVisibleCards } from "./section/card-grid.tsx";
import { ChartFlow, PINNED, type FlowSection } from "./section/chart-flow.tsx";
import { Controls } from "./section/controls.tsx";
import { useChartState, type ChartContext, type ChartRun, type GivenSeries } from "./section/chart-context.ts";
import { useNews } from "./section/use-lines.ts";
import { plainChart } from "./state/chart-options.ts";
import { nextSmoothing, type ChartState } from "./state/chart-state.ts";
import { createLink } from "./view/chart-pointer.ts";
import { Legend } from "./view/legend.tsx";

/** More charts than this are never drawn at the same time. */
const CHARTS_MAX = 24;

/** The content of a section of charts. */
export type ChartSectionProps = {
  readonly project: { readonly id: string; readonly name: string };
  /** Undefined while they are read. */
  readonly runs: readonly ChartRun[] | undefined;
  /** What to know about the runs. */
  readonly note?: string | undefined;
  /** Follows what running runs log. */
  readonly live: boolean;
  /** The id of a highlighted run, such as the one pointed at in the table. */
  readonly highlight?: string | undefined;
  /** Called when the user points at the line of a run in a list of values. */
  readonly onHighlight?: ((runId: string | undefined) => void) | undefined;
  /** Exactly these keys, without search and controls, as a report shows them. */
  readonly keys?: readonly string[] | undefined;
  /** Leaves out the metrics of machines, which have a place of their own. */
  readonly withoutSystem?: boolean;
  /** The choices of a report; without them they are in the address. */
  readonly settings?: Partial<ChartState> | undefined;
  /** The series of exactly these keys, which are then not read. */
  readonly given?: GivenSeries | undefined;
};

/** Charts of the metrics of runs: searched, grouped by what keys begin with, with choices that the address holds. */
export function ChartSection(props: ChartSectionProps) {
  const { project, runs = NO_RUNS, note, live, highlight, onHighlight, keys, settings, given } = props;
  const { withoutSystem = false } = props;
  const isReading = props.runs === undefined;
  const { state, change } = useChartState(settings);
  const shownRuns = useMemo(() => runs.filter(({ hidden }) => hidden !== true), [runs]);
  const link = useMemo(createLink, []);
  const visibleCards = useMemo(() => createVisibleCards(CHARTS_MAX), []);
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  const [shownSections, setShownSections] = useState(SECTIONS_MAX);
  const place = useRef<HTMLElement>(null);
  const width = useWidth(place);
  const runIds = useMemo(() => shownRuns.map(({ id }) => id), [shownRuns]);
  const news = useNews(project.id, runIds, live && shownRuns.some(({ running }) => running));
  useVisibleLines(project.id, state.group === undefined ? runIds : NO_IDS);
  const keyRunIds = useMemo(
    () => [
      ...new Set([...runIds, ...shownRuns.flatMap(({ parentId }) => (state.lineage && parentId ? [parentId] : []))]),
    ],
    [runIds, state.lineage],
  );
  const metrics = useCatalogue(project.id, "metric", keyRunIds, keys === undefined, news);
  const configs = useCatalogue(project.id, "config", runIds, keys === undefined, 0);
  useKeys(
    {
      "[": {
        label: "Less smoothing",
        run: () => change({ smoothing: nextSmoothing(state.smoothing, -1) }, { replace: true }),
      },
      "]": {
        label: "More smoothing",
        run: () => change({ smoothing: nextSmoothing(state.smoothing, 1) }, { replace: true }),
      },
      "0": { label: "Reset zoom", run: () => change({ zoom: undefined }) },
    },
    { label: "Charts" },
  );
  const context: ChartContext = {
    project,
    runs: shownRuns,
    state,
    change,
    link,
    highlight: highlight ?? pointed,
    onHighlight: (id) => {
      setPointed(id);
      onHighlight?.(id);
    },
    news,
    metricKeys: metrics.names ?? NO_IDS,
    configKeys: configs.names ?? NO_IDS,
    given,
  };
  const match = useMemo(() => keyMatch(state.search), [state.search]);
  const names = useMemo(
    () => keys ?? (withoutSystem ? metrics.names?.filter((key) => !isSystemKey(key)) : metrics.names),
    [keys, metrics.names, withoutSystem],
  );
  const found = useMemo(() => (keys === undefined ? names?.filter(match.test) : names) ?? [], [names, match, keys]);
  const pinned = keys === undefined ? state.pinned : [];
  const sections = useMemo(
    () =>
      keys === undefined
        ? flowSections(found, state)
        : [
            {
              id: "/",
              label: undefined,
              charts: found.map((key) => ({ ...plainChart(key), isFixed: true as const })),
              isOpen: true,
            },
          ],
    [
      found,
      keys,
      pinned.join("\n"),
      state.opened.join("\n"),
      state.closed.join("\n"),
      JSON.stringify([state.own, state.order, state.moved]),
      state.search !== "",
    ],
  );
  return (
    <section ref={place} class="tm-charts" aria-label="Charts">
      {keys === undefined && (
        <Controls context={context} match={match} metricKeys={metrics.names ?? []} configKeys={configs.names ?? []} />
      )}
      {note !== undefined && <p class="tm-chart-notes">{note}</p>}
      {keys !== undefined && state.group === undefined && (
        <Legend
          lines={shownRuns.map(({ id, name }) => ({ id, name, ...lineLook(id) }))}
          label="Runs"
          onHighlight={context.onHighlight}
        />
      )}
      <ErrorNote error={metrics.error} />
      {(isReading || (names === undefined && metrics.error === undefined)) && <Skeleton height="220px" />}
      {names !== undefined && names.length === 0 && (
        <EmptyState title="No metrics yet" icon="chart">
          Charts appear here as soon as a run logs a metric.
        </EmptyState>
      )}
      {names !== undefined && names.length > 0 && shownRuns.length === 0 && !isReading && (
        <EmptyState title="No runs to show" icon="eye-off">
          Select or show at least one run to see its lines.
        </EmptyState>
      )}
      {names !== undefined && names.length > 0 && found.length === 0 && (
        <EmptyState title="No metric matches" icon="search">
          No key in this project contains “{state.search}”.
        </EmptyState>
      )}
      {shownRuns.length > 0 && (
        <ChartFlow
          sections={sections.slice(0, shownSections)}
          context={context}
          visibleCards={visibleCards}
          width={width}
        />
      )}
      {shownRuns.length > 0 && sections.length > shownSections && (
        <Button size="s" onClick={() => setShownSections(shownSections + SECTIONS_MAX)}>
          {`Show more of ${sections.length} groups`}
        </Button>
      )}
    </section>
  );
}

const NO_RUNS: readonly ChartRun[] = [];

const NO_IDS: readonly string[] = [];

/** Groups that are listed at a time. */
const SECTIONS_MAX = 60;

/** Sections are open at first until this many charts are shown. */
const CHARTS_AT_FIRST = 12;

/** Returns the sections of keys, pinned ones first. */
function flowSections(
  found: readonly string[],
  { pinned, opened, closed, search, order, moved, own }: ChartState,
): FlowSection[] {
  const sections = [
    { id: PINNED, label: "Pinned", keys: pinned },
    ...sectionsOf(
      found.filter((key) => !pinned.includes(key)),
      moved,
    ).map(({ name, keys }) => ({
      // No name has a slash.
      id: name === "" ? "/" : name,
      label: name === "" ? "Metrics" : name,
      keys,
    })),
  ].filter(({ keys }) => keys.length > 0);
  const atFirst = openAtFirst(
    sections.map(({ keys }) => keys.length),
    CHARTS_AT_FIRST,
  );
  // A search opens what it finds.
  return sections.map(({ id, label, keys }, i) => ({
    id,
    label,
    charts: (id === PINNED ? keys : inOrder(keys, order)).map(
      (key) => own.find((one) => one.key === key) ?? plainChart(key),
    ),
    isOpen: opened.includes(id) || (!closed.includes(id) && (atFirst[i]! || search !== "")),
  }));
}
