import { useEffect, useMemo, useState } from "preact/hooks";
import { findProjectId } from "../../api/project-id.ts";
import { query } from "../../api/queries.ts";
import type { RunDetail } from "../../api/run-types.ts";
import { runAddress, webAddress } from "../../app/addresses.ts";
import { Link, navigate } from "../../app/location.tsx";
import { ChartSection, type GivenSeries } from "../../charts/index.ts";
import { panelOf } from "../../panels/panel.ts";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Markdown } from "../../ui/markdown.tsx";
import { metricWords } from "../../ui/words.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { ParallelCoordinates } from "../../charts/columns/parallel-coordinates.tsx";
import { Scatter } from "../../charts/columns/scatter.tsx";
import { chartKeys, parallelOf, pointsOf, runIdsOf, runsOfPanel, tableFields, type Grid } from "./panels.ts";
import { AddedPanel } from "./added-panel.tsx";
import { memberRun, type GridRun, type SharedGrid } from "./grid-runs.ts";
import type { Panel } from "./report-types.ts";

/** Runs that are read for a grid, and how many of a project where none is pinned. */
const RUNS_MAX = 50;
const NEWEST = 10;

/**
 * Where the data of the blocks of panels come from: read with the rights of the reader, opened by a share link, or from nowhere, for a reader of the texts
 * alone.
 */
export type PanelData =
  | { readonly from: "reader" }
  | { readonly from: "nowhere" }
  /** `grid` returns the data of the block at a place; undefined: none. Without it they are still read. */
  | {
      readonly from: "link";
      readonly grid?: (place: number) => SharedGrid | undefined;
      readonly error?: unknown;
      /** When the data were read, RFC 3339. */
      readonly generatedAt?: string;
    };

/** Charts and tables of runs. */
export function PanelGrid({
  block,
  data,
  place = 0,
}: {
  readonly block: Grid;
  readonly data: PanelData;
  /** The place of the block in the report. */
  readonly place?: number;
}) {
  const own = useRunsOf(data.from === "reader" ? block : undefined);
  if (data.from === "reader") return <Panels block={block} {...own} />;
  if (data.from === "link") {
    const found = data.grid?.(place);
    const runs = data.grid === undefined ? undefined : (found?.runs ?? []);
    return <Panels block={block} runs={runs} error={data.error} series={found?.series ?? NO_SERIES} />;
  }
  return (
    <p class="tm-locked">
      Charts and runs are shown to people who sign in to this organization; this link shows only the text.
    </p>
  );
}

const NO_SERIES: GivenSeries = new Map();

function Panels({
  block,
  runs,
  error,
  series,
}: Found & {
  readonly block: Grid;
  /** Those of a share link. */
  readonly series?: GivenSeries;
}) {
  const keys = useMemo(
    () => chartKeys(block).filter((key) => series === undefined || series.has(key)),
    [block, series],
  );
  if (error !== undefined && runs === undefined) return <ErrorNote error={error} />;
  if (runs === undefined) return <Skeleton height="220px" />;
  const [first] = runs;
  const fields = tableFields(block);
  if (first === undefined && block.panels.some(showsRuns))
    return <p class="tm-muted">These charts have no runs yet, or none that you can see.</p>;
  return (
    <div class="tm-panel-grid">
      <h2 class="tm-hidden">Charts and runs</h2>
      {keys.length > 0 && (
        <ChartSection
          project={first?.project ?? { id: "", name: "" }}
          runs={runs}
          live={series === undefined}
          keys={keys}
          settings={{}}
          given={series}
        />
      )}
      {fields !== undefined && <RunTable runs={runs} fields={fields} />}
      {block.panels.map((panel, i) => (
        <OtherPanel key={i} grid={block} panel={panel} runs={runs} isShared={series !== undefined} />
      ))}
      {block.caption !== undefined && block.caption !== "" && <p class="tm-muted">{block.caption}</p>}
    </div>
  );
}

/** Whether a panel shows runs; the others have their own content. */
const showsRuns = ({ type }: Panel): boolean => !["markdown_panel", "code_panel", "image_panel"].includes(type);

function OtherPanel({
  grid,
  panel,
  runs,
  isShared,
}: {
  readonly grid: Grid;
  readonly panel: Panel;
  readonly runs: readonly GridRun[];
  /** For a holder of a share link, who may not read objects. */
  readonly isShared: boolean;
}) {
  if (panel.type === "markdown_panel") return <Markdown text={panel.text ?? ""} />;
  if (panel.type === "code_panel") return <pre class="tm-preview-text">{panel.code ?? ""}</pre>;
  if (panel.type === "image_panel") return <ReportImage url={panel.url ?? ""} />;
  if (panel.type === "scatter" || panel.type === "parallel_coordinates")
    return <RunPanel grid={grid} panel={panel} runs={runs} />;
  const added = panelOf(panel);
  if (added === undefined) return null;
  return <AddedPanel grid={grid} panel={panel} added={added} runs={runs} isShared={isShared} />;
}

function RunTable({ runs, fields }: { readonly runs: readonly GridRun[]; readonly fields: readonly string[] }) {
  const columns = fields.map((field) => {
    const values = runs.map((run) => run.valueOf(field));
    return { field, values, kind: values.some((value) => typeof value === "string") ? undefined : "tm-number" };
  });
  return (
    <div class="tm-scroll-x" role="region" aria-label="Runs" tabIndex={0}>
      <table class="tm-list-table tm-report-runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            {columns.map(({ field, kind }) => (
              <th key={field} scope="col" class={kind}>
                {field}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {runs.map((run, row) => (
            <tr key={run.id}>
              <th scope="row">
                {run.project === undefined ? (
                  run.name
                ) : (
                  <Link href={runAddress(run.project.name, run.id, "overview")}>{run.name}</Link>
                )}
              </th>
              <td>
                <StatusBadge status={run.status} stale={run.stale} />
              </td>
              {columns.map(({ field, values, kind }) => {
                const value = values[row];
                return (
                  <td key={field} class={kind}>
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

type Found = { readonly runs: readonly GridRun[] | undefined; readonly error: unknown };

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
        const newest = async (project: string): Promise<readonly RunDetail[]> => {
          const id = await findProjectId(project, { signal });
          if (id === null) return [];
          return (await query<{ runs: RunDetail[] }>(`/api/runs/summary?project_id=${id}&limit=${NEWEST}`, { signal }))
            .runs;
        };
        const runs =
          pinned.length > 0
            ? (await Promise.all(pinned.map(one))).filter((run) => run !== undefined)
            : (await Promise.all(projects.slice(0, 5).map(newest))).flat();
        if (!signal.aborted) setFound({ runs: runs.map(memberRun), error: undefined });
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
  readonly runs: readonly GridRun[];
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
    const project = runs.find((one) => one.id === id)?.project;
    if (project !== undefined) navigate(runAddress(project.name, id));
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
        <p class="tm-muted">This is not a valid image address.</p>
      ) : (
        <a href={address} target="_blank" rel="noopener noreferrer">
          Show the image at {new URL(address).hostname}
        </a>
      )}
      {caption !== undefined && caption !== "" && <figcaption class="tm-muted">{caption}</figcaption>}
    </figure>
  );
}
