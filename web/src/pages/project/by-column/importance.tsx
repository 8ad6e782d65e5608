import { Breakable } from "../../../ui/breakable.tsx";
import { EmptyState } from "../../../ui/page-states.tsx";
import { counted } from "../../../ui/words.ts";
import { call } from "../../../api/client.ts";
import { useAnswer } from "../../../api/use-answer.ts";
import { columnLabel, valueWords } from "../table/columns.ts";
import type { Effect } from "./effect.ts";

/** How a number of the configs correlates with a metric, over the runs that have both. */
type Correlation = {
  readonly column: string;
  readonly run_count: number;
  readonly pearson: number | null;
  /** Of the ranks. */
  readonly spearman: number;
};

/** How much a parameter says about a metric: a number by its correlation, anything else by its effect. */
export type Ranking = { readonly column: string; readonly runs: number; readonly strength: number } & (
  | { readonly kind: "number"; readonly spearman: number; readonly pearson: number | null }
  | { readonly kind: "category"; readonly groups: Effect["groups"] }
);

/** Ranks parameters, the strongest first. */
export function rankingsOf(
  correlations: readonly Correlation[],
  effects: readonly (readonly [column: string, effect: Effect])[],
): readonly Ranking[] {
  const numbers = correlations.map(({ column, run_count: runs, spearman, pearson }): Ranking => ({
    kind: "number",
    column,
    runs,
    strength: Math.abs(spearman),
    spearman,
    pearson,
  }));
  const categories = effects.map(([column, { runs, effect, groups }]): Ranking => ({
    kind: "category",
    column,
    runs,
    strength: effect,
    groups,
  }));
  return [...numbers, ...categories].toSorted((a, b) => b.strength - a.strength);
}

/** Parameters that are listed. */
const LISTED_MAX = 30;

/** Which parameters go together with a metric, the strongest first. A press chooses one. */
export function Importance({
  metric,
  ranked,
  runs,
  chosen,
  onChoose,
}: {
  readonly metric: string;
  readonly ranked: readonly Ranking[];
  readonly runs: number;
  readonly chosen: string | undefined;
  readonly onChoose: (column: string) => void;
}) {
  if (ranked.length === 0)
    return (
      <EmptyState title="No parameter to compare yet" icon="gauge">
        At least two runs need {columnLabel(metric)} and a config value that differs between them.
      </EmptyState>
    );
  return (
    <div class="tm-wide">
      <table class="tm-importance">
        <caption>
          {`Parameter importance for ${columnLabel(metric)}, over ${counted(runs, "run")}: rank correlation (Spearman) from -1 to 1, or for text and booleans how well they separate the runs, from 0 to 1. Correlation is not causation.`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Parameter</th>
            <th scope="col">Importance</th>
            <th scope="col">Pearson</th>
            <th scope="col">Runs</th>
          </tr>
        </thead>
        <tbody>
          {ranked.slice(0, LISTED_MAX).map((one) => (
            <tr key={one.column} class={one.column === chosen ? "is-chosen" : undefined}>
              <th scope="row">
                <button type="button" aria-pressed={one.column === chosen} onClick={() => onChoose(one.column)}>
                  <Breakable text={columnLabel(one.column)} />
                </button>
              </th>
              <td>
                <span
                  class={
                    one.kind === "number" && one.spearman < 0 ? "tm-importance-bar is-negative" : "tm-importance-bar"
                  }
                  aria-hidden="true"
                >
                  <span style={{ width: `${50 * one.strength}%` }} />
                </span>
                {(one.kind === "number" ? one.spearman : one.strength).toFixed(2)}
              </td>
              <td>{one.kind === "category" ? counted(one.groups.length, "value") : one.pearson?.toFixed(2)}</td>
              <td>{one.runs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Values of a parameter that are listed. */
const VALUES_MAX = 20;

/** The runs by the values of a parameter that is not a number. */
export function ValueGroups({
  column,
  metric,
  groups,
}: {
  readonly column: string;
  readonly metric: string;
  readonly groups: Effect["groups"];
}) {
  return (
    <div class="tm-wide">
      <table class="tm-importance">
        <caption>{`${columnLabel(metric)} by ${columnLabel(column)}`}</caption>
        <thead>
          <tr>
            {[columnLabel(column), "Mean", "Min", "Max", "Runs"].map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.slice(0, VALUES_MAX).map(({ value, mean, min, max, runs }) => (
            <tr key={value}>
              <th scope="row">{value}</th>
              {[mean, min, max].map((figure, i) => (
                <td key={i}>{valueWords(Number(figure.toPrecision(5)))}</td>
              ))}
              <td>{runs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
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
export function useCorrelations(projectId: string, q: string, metric: string | undefined): Correlations {
  const name = JSON.stringify({
    metric: metric?.slice("metrics.".length),
    filter: { project_id: projectId, ...(q === "" ? {} : { q }) },
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
