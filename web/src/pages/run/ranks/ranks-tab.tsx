import "../../shared-chunk.ts";
import { metricWords } from "../../../ui/words.ts";
import { currentLocation, setQuery } from "../../../app/location.tsx";
import { EmptyState, ErrorNote } from "../../../ui/page-states.tsx";
import { Select } from "../../../ui/field.tsx";
import { Snippet } from "../../../ui/copy-button.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import type { TabProps } from "../run-actions.ts";
import { useQuery } from "../../../api/use-answer.ts";
import type { HeatCell } from "./heat.ts";
import { RankHeatmap } from "./rank-heatmap.tsx";

type Reducer = {
  readonly step: number;
  readonly rank_count: number;
  readonly expected_world_size: number;
  readonly world_size_mismatch: boolean;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
  readonly stddev: number;
};

type Summary = {
  readonly keys: readonly string[];
  readonly key: string | null;
  readonly reducers: readonly Reducer[];
  readonly heatmap: readonly HeatCell[];
  readonly outliers: readonly (HeatCell & { readonly z_score: number })[];
  readonly coverage: readonly {
    readonly step: number;
    readonly missing_rank_count: number;
    readonly missing_ranks: readonly number[];
  }[];
  readonly truncated: { readonly steps: boolean; readonly heatmap: boolean };
};

const STEPS_SHOWN = 12;

/** How the processes of a distributed training compare in one metric. */
export function RanksTab({ run, changes }: TabProps) {
  const path = `/api/runs/${run.id}/rank-metrics/summary`;
  const all = useQuery<Summary>(path, { version: changes.points });
  const key = currentLocation.value.query.get("rank-key") ?? all.data?.key ?? undefined;
  const isFirst = key === undefined || key === all.data?.key;
  const one = useQuery<Summary>(isFirst ? undefined : `${path}?key=${encodeURIComponent(key)}`, {
    version: changes.points,
  });
  const summary = isFirst ? all.data : one.data;
  const error = all.error ?? one.error;
  if (all.data === undefined && error === undefined) return <Skeleton lines={8} height="24px" />;
  if (all.data?.key === null) {
    return (
      <EmptyState title="No rank metrics" icon="grid">
        <p>Log what each process of a distributed training measures, and the slow or broken ones stand out here.</p>
        <Snippet
          label="Log a metric of a rank"
          text={'run.log_rank_metrics({"step_time": 0.31}, step=10, rank=rank, world_size=world_size)'}
        />
      </EmptyState>
    );
  }
  const missing = (summary?.coverage ?? []).filter(({ missing_rank_count: count }) => count > 0);
  return (
    <div class="tm-stack">
      <ErrorNote error={error} onRetry={all.reload} />
      <div class="tm-tools">
        <Select
          label="Metric"
          value={key ?? ""}
          options={(all.data?.keys ?? []).map((name) => ({ value: name, label: name }))}
          onChange={(name) => setQuery({ "rank-key": name })}
        />
      </div>
      {summary === undefined && error === undefined && <Skeleton lines={8} height="24px" />}
      {summary !== undefined && (
        <>
          <section class="tm-panel" aria-labelledby="rank-heat">
            <h2 id="rank-heat">{key} by rank and step</h2>
            {summary.heatmap.length === 0 ? (
              <p class="tm-muted">No rank reported this metric.</p>
            ) : (
              <RankHeatmap cells={summary.heatmap} metric={key ?? ""} />
            )}
            {summary.truncated.heatmap && (
              <p class="tm-muted">There are too many steps to show all; evenly spaced ones are shown.</p>
            )}
            {missing.length > 0 && (
              <p class="tm-warn-text">
                {`At ${missing.length} of ${summary.coverage.length} steps some ranks did not report`}
                {missing.at(-1)!.missing_ranks.length > 0 &&
                  `; at step ${missing.at(-1)!.step} these: ${missing.at(-1)!.missing_ranks.join(", ")}`}
                .
              </p>
            )}
          </section>
          <div class="tm-two">
            <section class="tm-panel" aria-labelledby="rank-outliers">
              <h2 id="rank-outliers">Farthest from the mean</h2>
              <Figures
                head={["Step", "Rank", "Value", "From mean", "Deviations"]}
                rows={summary.outliers.map((cell) => [
                  String(cell.step),
                  String(cell.rank),
                  metricWords(cell.value),
                  metricWords(cell.delta_from_mean),
                  metricWords(cell.z_score),
                ])}
              />
            </section>
            <section class="tm-panel" aria-labelledby="rank-steps">
              <h2 id="rank-steps">Newest steps</h2>
              <Figures
                head={["Step", "Ranks", "Mean", "Min", "Max", "Deviation"]}
                rows={summary.reducers
                  .slice(-STEPS_SHOWN)
                  .toReversed()
                  .map((row) => [
                    String(row.step),
                    `${row.rank_count} of ${row.expected_world_size}${row.world_size_mismatch ? " (sizes differ)" : ""}`,
                    ...[row.mean, row.min, row.max, row.stddev].map(metricWords),
                  ])}
              />
            </section>
          </div>
        </>
      )}
    </div>
  );
}

function Figures({ head, rows }: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] }) {
  return (
    <div class="tm-scroll-x" role="region" aria-label={head.join(", ")} tabIndex={0}>
      <table class="tm-list-table">
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col" class="tm-number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {row.map((cell, j) => (
                <td key={j} class="tm-number">
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
