import { metricDirection } from "@tidemark/values/metric-direction";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../../api/use-answer.ts";
import { joinList, projectAddress, splitList } from "../../app/addresses.ts";
import { currentLocation, Link, setQuery, useTitle } from "../../app/location.tsx";
import { chartRun, ChartSection, useVisibleLines, type ChartRun } from "../../charts/index.ts";
import { keyMatch } from "../../charts/keys/sections.ts";
import { SideBySide } from "../../media/lazy-side-by-side.tsx";
import { usualRowHeight } from "../../table/grid.tsx";
import { Button } from "../../ui/button.tsx";
import { Checkbox, Select, TextField } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted, countWords } from "../../ui/words.ts";
import { saveFile } from "../../ui/save-file.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { useLast } from "../../ui/use-last.ts";
import { useWidth } from "../../ui/use-width.ts";
import { query } from "../../api/queries.ts";
import "./compare-page.css";
import {
  compareCsv,
  COMPARED_FIGURES,
  compareRows,
  isOfEachRun,
  readDirections,
  writeDirections,
  type Direction,
  type RunFigures,
  type SideBySideRow,
} from "./compare-rows.ts";
import { CompareTable, type ComparedRun } from "./compare-table.tsx";

/** Runs that the API compares. */
const RUNS_MAX = 50;

type Answer = {
  readonly runs: readonly (ComparedRun & { readonly project_id: string })[];
  readonly rows: readonly SideBySideRow[];
  readonly truncated: boolean;
};

/** The differences between runs of a project, their charts, and what they logged at the same steps. */
export function ComparePage({ project }: { readonly project: string }) {
  useTitle("Comparison", project);
  const { query } = currentLocation.value;
  const ids = splitList(query.get("sel")).slice(0, RUNS_MAX);
  const isAll = query.get("all") === "1";
  const search = query.get("find") ?? "";
  const tab = query.get("tab") === "objects" ? "objects" : "charts";
  const head = useRef<HTMLElement>(null);
  // The table is as wide as the content above it.
  const width = useWidth(head);
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({});
  const wanted = ids.join(",");
  const { data, error, reload } = useQuery<Answer>(
    wanted === "" ? undefined : `/api/runs/side-by-side?run_ids=${wanted}`,
  );
  // While other runs are read, those before stay.
  const answer = useLast(data);
  const runs = answer?.runs ?? [];
  const base = runs.find(({ id }) => id === query.get("base"))?.id ?? runs[0]?.id ?? "";
  const figure = COMPARED_FIGURES.find((one) => one === query.get("figure")) ?? "latest";
  const ofEach = useRunFigures(
    runs.map(({ id }) => id),
    isOfEachRun(figure),
  );
  const rows = useMemo(
    () =>
      compareRows(
        answer?.rows ?? [],
        runs.map(({ id }) => id),
        figure,
        ofEach,
      ),
    [answer, figure, ofEach],
  );
  const chosen = readDirections(splitList(query.get("better")));
  const directionOf = (metric: string): Direction | undefined => chosen.get(metric) ?? metricDirection(metric);
  const match = useMemo(() => keyMatch(search), [search]);
  const shown = useMemo(
    () => rows.filter((row) => (isAll || row.different) && match.test(row.label)),
    [rows, isAll, match],
  );
  const chartRuns = useMemo((): ChartRun[] => runs.map(chartRun), [answer]);
  const projectId = answer?.runs[0]?.project_id;
  useVisibleLines(
    projectId,
    runs.map(({ id }) => id),
  );

  if (wanted === "") {
    return (
      <EmptyState title="No runs to compare" icon="compare">
        Select two or more runs in the project’s table, then press Compare.{" "}
        <Link href={projectAddress(project)}>Show the runs of {project}</Link>
      </EmptyState>
    );
  }
  const different = rows.filter((row) => row.different).length;
  return (
    <div class="tm-compare" aria-busy={answer === undefined && error === undefined}>
      <header class="tm-compare-head" ref={head}>
        <h1>
          Comparison of {counted(ids.length, "run")}{" "}
          <span class="tm-muted tm-compare-of">
            in <Link href={projectAddress(project)}>{project}</Link>
          </span>
        </h1>
        <TextField
          label="Search keys"
          hideLabel
          type="search"
          placeholder="Search keys: lr, or re:/loss$/"
          value={search}
          onInput={(find) => setQuery({ find }, { replace: true })}
        />
        <Select
          label="Metrics"
          hideLabel
          value={figure}
          options={COMPARED_FIGURES.map((value) => ({ value, label: `Metrics: ${value}` }))}
          onChange={(value) => setQuery({ figure: value === "latest" ? undefined : value }, { replace: true })}
        />
        <Checkbox
          label="Only differences"
          checked={!isAll}
          onChange={(isOn) => setQuery({ all: isOn ? undefined : "1" }, { replace: true })}
        />
        <Button
          icon="download"
          disabled={shown.length === 0}
          onClick={() =>
            saveFile(
              [
                compareCsv(
                  runs.map(({ name }) => name),
                  shown,
                ),
              ],
              `${project}-comparison.csv`,
              "text/csv",
            )
          }
        >
          Download CSV
        </Button>
      </header>
      <ErrorNote error={error} onRetry={reload} />
      {answer === undefined ? (
        error === undefined && <Skeleton lines={8} height="24px" />
      ) : (
        <>
          <p class="tm-muted" role="status">
            {countWords(different)} of {counted(rows.length, "key")} differ; {countWords(shown.length)} shown.
            {answer.truncated && " Some keys are left out: the server compares at most 5,000."}
          </p>
          {shown.length === 0 ? (
            <EmptyState title={search === "" ? "These runs do not differ" : "No key matches"} icon="check">
              {search === ""
                ? "Show all keys to see what they have in common."
                : "Change the search, or show all keys."}
            </EmptyState>
          ) : (
            <div
              class="tm-compare-table"
              style={{ height: `${(Math.min(shown.length, 16) + 1) * usualRowHeight() + 18}px` }}
            >
              <CompareTable
                project={project}
                runs={runs}
                width={width}
                rows={shown}
                base={base}
                directionOf={directionOf}
                widths={widths}
                onResize={(column, width) => setWidths((before) => ({ ...before, [column]: width }))}
                onBase={(id) => setQuery({ base: id }, { replace: true })}
                onDirection={(metric, direction) =>
                  setQuery(
                    { better: joinList(writeDirections(new Map(chosen).set(metric, direction))) },
                    { replace: true },
                  )
                }
              />
            </div>
          )}
          <Tabs
            name="compare"
            label="What runs logged"
            tabs={[
              { id: "charts", label: "Charts" },
              { id: "objects", label: "Objects" },
            ]}
            current={tab}
            onSelect={(id) => setQuery({ tab: id === "charts" ? undefined : id }, { replace: true })}
          />
          <TabPanel name="compare" current={tab}>
            {tab === "objects" ? (
              <SideBySide runs={runs} search={search} matches={match.test} empty={<NoObjects />} />
            ) : (
              projectId !== undefined && (
                <ChartSection project={{ id: projectId, name: project }} runs={chartRuns} live />
              )
            )}
          </TabPanel>
        </>
      )}
    </div>
  );
}

function NoObjects() {
  return (
    <EmptyState title="No objects" icon="image">
      These runs have logged no tables, pictures, sounds or histograms.
    </EmptyState>
  );
}

/** Reads the figures of the metrics of runs while they are wanted, in the order of the runs. */
function useRunFigures(runIds: readonly string[], isWanted: boolean): readonly (RunFigures | undefined)[] {
  const [found, setFound] = useState<ReadonlyMap<string, RunFigures>>(new Map());
  useEffect(() => {
    if (!isWanted) return undefined;
    const ending = new AbortController();
    const read = async (id: string): Promise<void> => {
      const { run } = await query<{ run: { metric_aggregates: RunFigures } }>(`/runs/${id}`, { signal: ending.signal });
      setFound((before) => new Map(before).set(id, run.metric_aggregates));
    };
    // A run without them has gaps.
    for (const id of runIds) read(id).catch(() => undefined);
    return () => ending.abort();
  }, [runIds.join(), isWanted]);
  return useMemo(() => runIds.map((id) => found.get(id)), [runIds.join(), found]);
}
