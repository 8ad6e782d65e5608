import { call } from "../../../api/client.ts";
import { useAnswer } from "../../../api/use-answer.ts";

/** How a column of the configs correlates with a metric, over the runs that have both. */
export type Correlation = {
  readonly column: string;
  readonly run_count: number;
  readonly pearson: number | null;
  /** Of the ranks. */
  readonly spearman: number;
};

type Answer = {
  readonly run_count: number;
  readonly correlations: readonly (Omit<Correlation, "spearman"> & { readonly spearman: number | null })[];
};

/** The correlations with a metric, the strongest first; undefined while unknown. */
export type Correlations = {
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
