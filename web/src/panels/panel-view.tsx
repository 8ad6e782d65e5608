import { useVisibleLines } from "../charts/index.ts";
import { useMemo, useState } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { query } from "../api/queries.ts";
import { useAnswer } from "../api/use-answer.ts";
import { BarChart } from "../charts/kinds/bar-chart.tsx";
import type { Bar } from "../charts/kinds/bars.ts";
import { RunSwatch } from "../charts/look/look-picker.tsx";
import { ClassifierPictureOfRuns } from "../media/classifier-pictures.tsx";
import type { ClassifierPicture } from "../charts/kinds/table-columns.ts";
import type { ObjectOfRun } from "../media/classifier.ts";
import { HistogramsOverSteps } from "../media/histograms-over-steps.tsx";
import type { RichObject } from "../media/steps.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import { counted } from "../ui/words.ts";
import { barLabel, panelTitle, type RunsPanel } from "./panel.ts";

type NamedRun = { readonly id: string; readonly name: string };

type PanelProps = {
  readonly panel: RunsPanel;
  readonly projectId: string;
  /** Those that are shown. */
  readonly runs: readonly NamedRun[];
  /** The bars of a bar chart; undefined while they are read. */
  readonly bars: readonly Bar[] | undefined;
  /** What a bar is of. */
  readonly what?: "run" | "group";
  /** Objects are read again when it grows. */
  readonly version?: number;
  readonly highlight?: string | undefined;
  readonly onHighlight?: ((id: string | undefined) => void) | undefined;
  readonly onOpen?: ((runId: string) => void) | undefined;
};

/** The content of a chart that people add: bars, histograms over steps, or what a classifier does. */
export function PanelView({ panel, bars, what = "run", highlight, onHighlight, onOpen, ...objects }: PanelProps) {
  if (panel.type !== "bar") return <ObjectPanel panel={panel} {...objects} />;
  if (bars === undefined) return <Skeleton height="160px" />;
  return (
    <BarChart
      title={panelTitle(panel)}
      label={barLabel(panel)}
      bars={bars}
      what={what}
      highlight={highlight}
      onHighlight={onHighlight}
      onOpen={what === "run" ? onOpen : undefined}
    />
  );
}

/** Runs whose objects are read at a time: curves share a plot, the others take the place of one each. */
const RUNS_AT_ONCE = { histogram: 4, confusion_matrix: 4, roc_curve: 10, pr_curve: 10 } as const;
/** Histograms of a run that are read; of other objects only the latest is. */
const HISTOGRAMS_MAX = 200;
/** Pixels of a picture of histograms, alone and under each other. */
const HEIGHT_OF_ONE = 280;
const HEIGHT_OF_SEVERAL = 190;

const PICTURES = { roc_curve: "roc", pr_curve: "pr", confusion_matrix: "confusion" } as const satisfies Record<
  string,
  ClassifierPicture
>;

function ObjectPanel({
  panel,
  projectId,
  runs,
  version = 0,
}: Pick<PanelProps, "projectId" | "runs" | "version"> & { readonly panel: Exclude<RunsPanel, { type: "bar" }> }) {
  const atOnce = RUNS_AT_ONCE[panel.type];
  const [most, setMost] = useState<number>(atOnce);
  const shown = runs.slice(0, most);
  const ids = shown.map(({ id }) => id);
  useVisibleLines(projectId, ids);
  const limit = panel.type === "histogram" ? HISTOGRAMS_MAX : 1;
  const name = JSON.stringify([panel.object_key, limit, ids]);
  const { data, error, reload } = useAnswer(
    ids.length === 0 ? undefined : name,
    (signal, again) => readObjects(ids, panel.object_key, limit, { signal, again }),
    version,
  );
  const names = shown.map((run) => run.name).join("\n");
  const ofRuns = useMemo(
    () => shown.map((run, i) => ({ run, objects: data?.[i] ?? [] })).filter(({ objects }) => objects.length > 0),
    [data, names],
  );
  const latest = useMemo(() => ofRuns.map(({ run, objects }): ObjectOfRun => ({ run, object: objects[0]! })), [ofRuns]);
  if (runs.length === 0) return <p class="tm-muted">Show at least one run to see this chart.</p>;
  if (error !== undefined && data === undefined) return <ErrorNote error={error} onRetry={reload} />;
  if (data === undefined) return <Skeleton height="220px" />;
  return (
    <>
      {ofRuns.length === 0 && (
        <p class="tm-muted">{`None of ${counted(shown.length, "run")} has logged ${panel.object_key}.`}</p>
      )}
      {panel.type === "histogram"
        ? ofRuns.map(({ run, objects }) => (
            <section key={run.id} aria-label={run.name}>
              <h4 class="tm-panel-run">
                <RunSwatch runId={run.id} /> {run.name}
              </h4>
              <HistogramsOverSteps
                label={`${panel.object_key} of ${run.name}`}
                objects={objects}
                view={panel.view ?? "ridges"}
                height={ofRuns.length > 1 ? HEIGHT_OF_SEVERAL : HEIGHT_OF_ONE}
              />
            </section>
          ))
        : ofRuns.length > 0 && (
            <ClassifierPictureOfRuns kind={PICTURES[panel.type]} label={panel.object_key} ofRuns={latest} />
          )}
      {runs.length > shown.length && (
        <Button size="s" onClick={() => setMost(most + atOnce)}>
          {`Show more of ${counted(runs.length, "run")}`}
        </Button>
      )}
    </>
  );
}

/** Reads the objects of runs under a key, those of the last steps first. Of a run that is gone, or that the reader may not see, none. */
function readObjects(
  runIds: readonly string[],
  key: string,
  limit: number,
  options: { readonly signal: AbortSignal; readonly again: boolean },
): Promise<readonly (readonly RichObject[])[]> {
  const parameters = new URLSearchParams({ key, limit: String(limit) });
  return Promise.all(
    runIds.map(async (id) => {
      try {
        const path = `/api/runs/${encodeURIComponent(id)}/objects?${parameters}`;
        return (await query<{ objects: RichObject[] }>(path, options)).objects;
      } catch (fault) {
        if (fault instanceof ApiError && fault.status === 404) return [];
        throw fault;
      }
    }),
  );
}
