import { exactJson } from "../../api/exact-json.ts";
import { valueAt, type ExactValue } from "../../api/exact-value.ts";
import { isNewestNonFinite, type Aggregate, type RunDetail } from "../../api/run-types.ts";
import type { ChartRun, GivenSeries } from "../../charts/index.ts";
import { seriesOf, type SentSeries } from "../../charts/series/decode.ts";
import type { Series } from "../../charts/series/series.ts";

/** A run of a block of panels, as these show it. */
export type GridRun = ChartRun & {
  /** running, stopping, stopped, finished or failed. */
  readonly status: string;
  readonly stale: boolean;
  /** Undefined for readers who cannot go there. */
  readonly project: { readonly id: string; readonly name: string } | undefined;
  /** Returns what the run has under the name of a column: `config.<path>`, `metrics.<key>[.<aggregate>]`, `name`, `status`, `tags`, `notes`. */
  readonly valueOf: (column: string) => string | number | undefined;
};

/** Returns a run that was read with the rights of the reader. */
export function memberRun(run: RunDetail): GridRun {
  const { id, name, started_at: startedAt, status, forked_from_step: step } = run;
  return {
    id,
    name,
    startedAt,
    running: status === "running",
    forkStep: step ?? undefined,
    status: run.run_control.display_status,
    stale: run.stale,
    project: { id: run.project_id, name: run.project },
    valueOf: (column) => valueOfColumn(run, column),
  };
}

const AGGREGATES = ["latest", "best", "min", "max", "mean", "count"] as const;

function valueOfColumn(run: RunDetail, column: string): string | number | undefined {
  if (column === "tags") return run.tags.join(", ");
  if (column === "name" || column === "status") return run[column];
  if (column === "notes") return run.notes ?? undefined;
  const [, kind, name] = /^(config|metrics?)[./](.+)$/s.exec(column) ?? [];
  if (name === undefined) return undefined;
  return kind === "config"
    ? shownValue(valueAt(run.config, [name]) ?? valueAt(run.config, name.split(".")))
    : metricValue(run, name);
}

function metricValue({ metric_aggregates: aggregates }: RunDetail, name: string): number | "NaN" | undefined {
  for (const aggregate of AGGREGATES) {
    const suffix = [`.${aggregate}`, `/${aggregate}`].find((one) => name.endsWith(one));
    const key = suffix === undefined ? undefined : name.slice(0, -suffix.length);
    if (key !== undefined && Object.hasOwn(aggregates, key)) return figureOf(aggregates[key]!, aggregate);
  }
  return Object.hasOwn(aggregates, name) ? figureOf(aggregates[name]!, "latest") : undefined;
}

/** Returns a figure: NaN where the newest value is not finite, or no value is. */
function figureOf(of: Aggregate, name: (typeof AGGREGATES)[number]): number | "NaN" | undefined {
  const value = of[name];
  const isFinite = name === "latest" ? !isNewestNonFinite(of) : value !== null || of.non_finite === undefined;
  return isFinite ? (value ?? undefined) : "NaN";
}

/** Returns a value as tables show it: what is neither a number nor a text as JSON. */
function shownValue(value: ExactValue | undefined): string | number | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" || typeof value === "string" ? value : exactJson(value);
}

/** The data of a block that a share link opens. */
export type SharedGrid = { readonly runs: readonly GridRun[]; readonly series: GivenSeries };

/** Columns of numbers, in which large integers have every digit. */
type ExactColumns = Readonly<Record<string, readonly (number | bigint | null)[] | undefined>>;

/** The answer to a holder of a share link. */
type SharedAnswer = {
  readonly view_data: {
    readonly generated_at: string;
    readonly grids: readonly {
      readonly block: number;
      readonly runs: readonly {
        readonly id: string;
        readonly name: string;
        readonly status: string;
        readonly values: { readonly [column: string]: ExactValue };
      }[];
      readonly series: readonly (Omit<SentSeries, "columns"> & { readonly columns: ExactColumns })[];
    }[];
  };
};

/** The data that a share link opens. */
export type SharedData = {
  /** RFC 3339. */
  readonly generatedAt: string;
  /** By the place of their block in the report. */
  readonly grids: ReadonlyMap<number, SharedGrid>;
};

function plainColumns(columns: ExactColumns): SentSeries["columns"] {
  return Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [
      name,
      values?.map((value) => (typeof value === "bigint" ? Number(value) : value)),
    ]),
  );
}

/** Reads the data that a share link opens. */
export function readSharedData({ view_data: { generated_at: generatedAt, grids } }: SharedAnswer): SharedData {
  return {
    generatedAt,
    grids: new Map(
      grids.map(({ block, runs, series }) => [
        block,
        {
          runs: runs.map(({ id, name, status, values }) => ({
            id,
            name,
            startedAt: generatedAt,
            running: status === "running" || status === "stopping",
            status,
            stale: false,
            project: undefined,
            valueOf: (column) => (Object.hasOwn(values, column) ? shownValue(values[column]) : undefined),
          })),
          series: Map.groupBy(
            series
              .filter(({ columns }) => (columns["step"]?.length ?? 0) > 0)
              .map((one) => seriesOf({ ...one, columns: plainColumns(one.columns) }, { x: "step" })),
            ({ key }: Series) => key,
          ),
        },
      ]),
    ),
  };
}
