/** A point of a line. NaN, and what is not a number, is null. */
export type Point = { readonly step: number; readonly value: number | null };

/** A run as the page shows it. */
export type ShownRun = { readonly id: string; readonly name: string; readonly status: string };

/** A chart of one metric key. */
export type ShownChart = {
  readonly key: string;
  /** One for each run that has points, with the place of the run in the list. */
  readonly lines: readonly { readonly run: number; readonly points: readonly Point[] }[];
  /** Whether a line has more points than are shown. */
  readonly isPartial: boolean;
};

/** What the page shows. */
export type View = { readonly runs: readonly ShownRun[]; readonly charts: readonly ShownChart[] };

/** How many characters of an id name a run that has no name. */
const ID_CHARACTERS = 8;

/** The parts of an answer that the page shows; all may be missing, because nothing checks the answer before. */
type Answer = {
  readonly view_data?: {
    readonly runs?: readonly { readonly id?: unknown; readonly name?: unknown; readonly status?: unknown }[];
    readonly metric_series?: readonly {
      readonly metric_key?: unknown;
      readonly series?: readonly {
        readonly run_id?: unknown;
        readonly metrics?: readonly { readonly step?: unknown; readonly value?: unknown }[];
        readonly truncated?: unknown;
        readonly sampled?: unknown;
      }[];
    }[];
  };
};

/** Reads the answer to a request for data. */
export function readView(answer: unknown): View {
  const { runs = [], metric_series: keys = [] } = (answer as Answer | null)?.view_data ?? {};
  const shown = runs.map(({ id, name, status }) => ({
    id: String(id),
    name: typeof name === "string" && name.trim() !== "" ? name : String(id).slice(0, ID_CHARACTERS),
    status: typeof status === "string" ? status : "",
  }));
  const places = new Map(shown.map(({ id }, place) => [id, place]));
  return {
    runs: shown,
    charts: keys.map(({ metric_key: key, series = [] }) => ({
      key: String(key),
      lines: series.flatMap(({ run_id: runId, metrics = [] }) => {
        const run = places.get(String(runId));
        return run === undefined || metrics.length === 0 ? [] : [{ run, points: metrics.flatMap(readPoint) }];
      }),
      isPartial: series.some(({ truncated, sampled }) => truncated === true || sampled === true),
    })),
  };
}

function readPoint({ step, value }: { readonly step?: unknown; readonly value?: unknown }): Point[] {
  if (typeof step !== "number" || !Number.isFinite(step)) return [];
  const known = value === "Infinity" || value === "-Infinity" ? Number(value) : value;
  return [{ step, value: typeof known === "number" && !Number.isNaN(known) ? known : null }];
}
