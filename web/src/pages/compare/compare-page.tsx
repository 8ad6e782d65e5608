import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useQuery } from "../../api/use-answer.ts";
import { joinList, projectAddress, splitList } from "../../app/addresses.ts";
import { currentLocation, Link, setQuery, useTitle } from "../../app/location.tsx";
import { chartRun, ChartSection, useVisibleLines, type ChartRun } from "../../charts/index.ts";
import { keyMatch } from "../../charts/keys/sections.ts";
import { usualRowHeight } from "../../table/grid.tsx";
import { Button } from "../../ui/button.tsx";
import { Checkbox, TextField } from "../../ui/field.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted, countWords } from "../../ui/words.ts";
import { saveFile } from "../../ui/save-file.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { TabPanel, Tabs } from "../../ui/tabs.tsx";
import { useWidth } from "../../ui/use-width.ts";
import { query } from "../../api/queries.ts";
import type { Aggregate } from "../../api/run-types.ts";
import "./compare-page.css";
import { CompareObjects } from "./compare-objects.tsx";
import {
  compareCsv,
  compareRows,
  directionOf,
  readDirections,
  writeDirections,
  type Direction,
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
  const found = useDirections(runs.map(({ id }) => id));
  const chosen = readDirections(splitList(query.get("better")));
  const directions = new Map([...found, ...chosen]);
  const rows = useMemo(
    () =>
      compareRows(
        answer?.rows ?? [],
        runs.map(({ id }) => id),
      ),
    [answer],
  );
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
        Select two or more runs in the table of the project, then press Compare.{" "}
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
            {answer.truncated && " There is more to compare than the server returns."}
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
                directions={directions}
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
              <CompareObjects runs={runs} search={search} matches={match.test} />
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

/** Number of runs that are asked: a run whose metric never changed says nothing about its direction. */
const ASKED_MAX = 3;

/** Reads which way metrics are better, from what the server counts as the best of some runs. */
function useDirections(runIds: readonly string[]): ReadonlyMap<string, Direction> {
  const [found, setFound] = useState<ReadonlyMap<string, Direction>>(new Map());
  const asked = runIds.slice(0, ASKED_MAX);
  useEffect(() => {
    const ending = new AbortController();
    const read = async (id: string): Promise<void> => {
      const { run } = await query<{ run: { metric_aggregates: Readonly<Record<string, Aggregate>> } }>(`/runs/${id}`, {
        signal: ending.signal,
      });
      setFound((before) => {
        const next = new Map(before);
        for (const [key, figures] of Object.entries(run.metric_aggregates)) {
          const direction = directionOf(figures);
          if (direction !== undefined) next.set(key, direction);
        }
        return next;
      });
    };
    // Without them differences have no color.
    for (const id of asked) read(id).catch(() => undefined);
    return () => ending.abort();
  }, [asked.join()]);
  return found;
}

/** Returns the last value that was there: what was shown stays until something else can be shown. */
function useLast<T>(value: T | undefined): T | undefined {
  const last = useRef(value);
  if (value !== undefined) last.current = value;
  return last.current;
}
