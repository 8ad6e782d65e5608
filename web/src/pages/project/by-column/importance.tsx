import { EmptyState } from "../../../ui/page-states.tsx";
import { counted } from "../../../ui/words.ts";
import { call } from "../../../api/client.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import { columnLabel } from "../table/columns.ts";

/** How a column of the configs correlates with a metric, over the runs that have both. */
type Correlation = {
  readonly column: string;
  readonly run_count: number;
  readonly pearson: number | null;
  /** Of the ranks. */
  readonly spearman: number;
};

/** Parameters that are listed. */
const LISTED_MAX = 30;

/** Which numbers of the configs go together with a metric: the strongest correlation of ranks first. A press chooses one. */
export function Importance({
  metric,
  ranked,
  runs,
  chosen,
  onChoose,
}: {
  readonly metric: string;
  readonly ranked: readonly Correlation[];
  readonly runs: number;
  readonly chosen: string | undefined;
  readonly onChoose: (column: string) => void;
}) {
  if (ranked.length === 0)
    return (
      <EmptyState title="No number of the configs goes together with it" icon="gauge">
        At least two runs need values of {columnLabel(metric)} and a number in their configs that differs.
      </EmptyState>
    );
  return (
    <table class="tm-importance">
      <caption>
        {`How parameters go together with ${columnLabel(metric)}, over ${counted(runs, "run")}: correlation of ranks (Spearman) and of values (Pearson), from -1 to 1. It does not tell what causes what.`}
      </caption>
      <thead>
        <tr>
          <th scope="col">Parameter</th>
          <th scope="col">Ranks</th>
          <th scope="col">Values</th>
          <th scope="col">Runs</th>
        </tr>
      </thead>
      <tbody>
        {ranked.slice(0, LISTED_MAX).map(({ column, spearman, pearson, run_count: count }) => (
          <tr key={column} class={column === chosen ? "is-chosen" : undefined}>
            <th scope="row">
              <button type="button" aria-pressed={column === chosen} onClick={() => onChoose(column)}>
                {columnLabel(column)}
              </button>
            </th>
            <td>
              <span class={spearman < 0 ? "tm-importance-bar is-negative" : "tm-importance-bar"} aria-hidden="true">
                <span style={{ width: `${50 * Math.abs(spearman)}%` }} />
              </span>
              {spearman.toFixed(2)}
            </td>
            <td>{pearson === null ? "" : pearson.toFixed(2)}</td>
            <td>{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Answer = {
  readonly run_count: number;
  readonly correlations: readonly (Omit<Correlation, "spearman"> & { readonly spearman: number | null })[];
};

/** The correlations with a metric, the strongest first; undefined while unknown. */
type Correlations = {
  readonly ranked: readonly Correlation[] | undefined;
  readonly runs: number;
  readonly error: unknown;
  readonly retry: () => void;
};

/** Reads which numbers of the configs go together with the column of a metric, over the runs of a project that pass a search. */
export function useCorrelations(project: string, q: string, metric: string | undefined): Correlations {
  const name = JSON.stringify({
    metric: metric?.slice("metrics.".length),
    filter: { project, ...(q === "" ? {} : { q }) },
  });
  const { data, error, reload } = useAnswer(metric === undefined ? undefined : name, (signal) =>
    call<Answer>("/api/runs/correlations", { body: JSON.parse(name), signal }),
  );
  return {
    ranked: data?.correlations.flatMap((one) => (one.spearman === null ? [] : [{ ...one, spearman: one.spearman }])),
    runs: data?.run_count ?? 0,
    error,
    retry: reload,
  };
}
