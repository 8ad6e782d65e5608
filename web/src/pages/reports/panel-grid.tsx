import { useEffect, useMemo, useState } from "preact/hooks";
import { query } from "../../api/queries.ts";
import type { RunDetail } from "../../api/run-types.ts";
import { runAddress, webAddress } from "../../app/addresses.ts";
import { Link, navigate } from "../../app/location.tsx";
import { chartRun, ChartSection, type ChartRun } from "../../charts/index.ts";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { metricWords } from "../../ui/words.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { ParallelCoordinates } from "../../charts/columns/parallel-coordinates.tsx";
import { Scatter } from "../../charts/columns/scatter.tsx";
import {
  chartKeys,
  parallelOf,
  pointsOf,
  runIdsOf,
  runsOfPanel,
  tableFields,
  valueOfField,
  type Grid,
} from "./panels.ts";
import type { Panel } from "./report-types.ts";

/** Runs that are read for a grid, and how many of a project where none is pinned. */
const RUNS_MAX = 50;
const NEWEST = 10;

/** Charts and tables of runs. Their data is read with the rights of the reader, never with the link's. */
export function PanelGrid({ block, canReadRuns }: { readonly block: Grid; readonly canReadRuns: boolean }) {
  const { runs, error } = useRunsOf(canReadRuns ? block : undefined);
  const keys = useMemo(() => chartKeys(block), [block]);
  const chartRuns = useMemo<readonly ChartRun[]>(() => (runs ?? []).map(chartRun), [runs]);
  if (!canReadRuns) {
    return (
      <p class="tm-locked">
        Charts and runs are shown to people who sign in to this organization; this link opens the text alone.
      </p>
    );
  }
  if (error !== undefined) return <ErrorNote error={error} />;
  if (runs === undefined) return <Skeleton height="220px" />;
  const [first] = runs;
  if (first === undefined) return <p class="tm-muted">These charts have no runs yet, or none that you can see.</p>;
  const fields = tableFields(block);
  return (
    <div class="tm-panel-grid">
      <h2 class="tm-hidden">Charts and runs</h2>
      {keys.length > 0 && (
        <ChartSection
          project={{ id: first.project_id, name: first.project }}
          runs={chartRuns}
          live
          keys={keys}
          settings={{}}
        />
      )}
      {fields !== undefined && <RunTable runs={runs} fields={fields} />}
      {block.panels.map((panel, i) => (
        <OtherPanel key={i} grid={block} panel={panel} runs={runs} />
      ))}
    </div>
  );
}

function OtherPanel({
  grid,
  panel,
  runs,
}: {
  readonly grid: Grid;
  readonly panel: Panel;
  readonly runs: readonly RunDetail[];
}) {
  if (panel.type === "markdown_panel") return <Markdown text={panel.text ?? ""} />;
  if (panel.type === "code_panel") return <pre class="tm-preview-text">{panel.code ?? ""}</pre>;
  if (panel.type === "image_panel") return <ReportImage url={panel.url ?? ""} />;
  if (panel.type === "scatter" || panel.type === "parallel_coordinates")
    return <RunPanel grid={grid} panel={panel} runs={runs} />;
  return null;
}

function RunTable({ runs, fields }: { readonly runs: readonly RunDetail[]; readonly fields: readonly string[] }) {
  return (
    <div class="tm-scroll-x" role="region" aria-label="Runs" tabIndex={0}>
      <table class="tm-list-table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            {fields.map((field) => (
              <th key={field} scope="col" class="tm-number">
                {field}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <th scope="row">
                <Link href={runAddress(run.project, run.id, "overview")}>{run.name}</Link>
              </th>
              <td>
                <StatusBadge status={run.run_control.display_status} stale={run.stale} />
              </td>
              {fields.map((field) => {
                const value = valueOfField(run, field);
                return (
                  <td key={field} class="tm-number">
                    {typeof value === "number" ? metricWords(value) : (value ?? "–")}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

type Found = { readonly runs: readonly RunDetail[] | undefined; readonly error: unknown };

/** Reads the runs of a grid: those that it pins (some may be gone), else the newest of its projects. */
function useRunsOf(grid: Grid | undefined): Found {
  const [found, setFound] = useState<Found>({ runs: undefined, error: undefined });
  const pinned = grid === undefined ? [] : runIdsOf(grid).slice(0, RUNS_MAX);
  const projects = grid === undefined ? [] : [...new Set(grid.runsets.flatMap((runset) => runset.projects))];
  const key = grid === undefined ? undefined : JSON.stringify([pinned, projects]);
  useEffect(() => {
    if (key === undefined) return undefined;
    const ending = new AbortController();
    const { signal } = ending;
    const read = async (): Promise<void> => {
      try {
        const one = (id: string): Promise<RunDetail | undefined> =>
          query<{ run: RunDetail }>(`/runs/${encodeURIComponent(id)}`, { signal }).then(
            ({ run }) => run,
            // It is gone, or the reader may not see it.
            () => undefined,
          );
        const newest = (project: string): Promise<readonly RunDetail[]> =>
          query<{ runs: RunDetail[] }>(`/api/runs/summary?project=${encodeURIComponent(project)}&limit=${NEWEST}`, {
            signal,
          }).then(({ runs }) => runs);
        const runs =
          pinned.length > 0
            ? (await Promise.all(pinned.map(one))).filter((run) => run !== undefined)
            : (await Promise.all(projects.slice(0, 5).map(newest))).flat();
        if (!signal.aborted) setFound({ runs, error: undefined });
      } catch (error) {
        if (!signal.aborted) setFound({ runs: undefined, error });
      }
    };
    void read();
    return () => ending.abort();
  }, [key]);
  return found;
}

/** A panel with a point or a line for each run: a scatter plot or parallel coordinates. */
function RunPanel({
  grid,
  panel,
  runs: all,
}: {
  readonly grid: Grid;
  readonly panel: Panel;
  readonly runs: readonly RunDetail[];
}) {
  const runs = useMemo(() => runsOfPanel(grid, panel, all), [grid, panel, all]);
  const points = useMemo(() => pointsOf(panel, runs), [panel, runs]);
  const parallel = useMemo(() => parallelOf(panel, runs), [panel, runs]);
  if (panel.type === "parallel_coordinates") {
    return (
      <section class="tm-run-panel-view">
        <h3>Runs by their columns</h3>
        <ParallelCoordinates
          // The brushes belong to these columns.
          key={parallel.columns.map(({ name }) => name).join("\n")}
          {...parallel}
          onSelect={() => undefined}
        />
      </section>
    );
  }
  const open = (id: string): void => {
    const run = runs.find((one) => one.id === id);
    if (run !== undefined) navigate(runAddress(run.project, run.id));
  };
  const [x = "", y = ""] = [panel.x_metric, panel.y_metric];
  return (
    <section class="tm-run-panel-view">
      <h3>{`${y} by ${x}`}</h3>
      <Scatter xLabel={x} yLabel={y} runs={points} onOpen={open} />
    </section>
  );
}

/** An image of this server. Others would learn who reads the report, so that they are only linked to. */
export function ReportImage({ url, caption }: { readonly url: string; readonly caption?: string | undefined }) {
  const parsed = URL.parse(url, location.href);
  const isOwn = parsed !== null && parsed.origin === location.origin && ["http:", "https:"].includes(parsed.protocol);
  const address = webAddress(url);
  return (
    <figure class="tm-block-image">
      {isOwn ? (
        <img src={`${parsed.pathname}${parsed.search}`} alt={caption ?? "Image of the report"} loading="lazy" />
      ) : address === undefined ? (
        <p class="tm-muted">The address of this image cannot be shown.</p>
      ) : (
        <a href={address} target="_blank" rel="noopener noreferrer">
          Show the image at {new URL(address).hostname}
        </a>
      )}
      {caption !== undefined && caption !== "" && <figcaption class="tm-muted">{caption}</figcaption>}
    </figure>
  );
}
