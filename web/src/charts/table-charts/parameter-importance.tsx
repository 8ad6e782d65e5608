import { useEffect, useState } from "preact/hooks";
import { call } from "../../api/client.ts";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { counted } from "../scene/numbers.ts";
import "../charts.css";

type Correlation = {
  readonly column: string;
  readonly run_count: number;
  readonly pearson: number | null;
  readonly spearman: number | null;
};
type Answer = { readonly metric: string; readonly run_count: number; readonly correlations: readonly Correlation[] };

/** Parameters that are listed. */
const LISTED_MAX = 30;

/** Which numbers of the configs go together with a metric, over runs that a filter or a list names: the strongest correlation of ranks first. */
export function ParameterImportance({
  metric,
  filter,
  runIds,
}: {
  readonly metric: string;
  readonly filter?: Readonly<Record<string, string>> | undefined;
  readonly runIds?: readonly string[] | undefined;
}) {
  const [answer, setAnswer] = useState<Answer | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [attempt, setAttempt] = useState(0);
  const asked = JSON.stringify({ metric, ...(runIds === undefined ? { filter: filter ?? {} } : { run_ids: runIds }) });
  useEffect(() => {
    const controller = new AbortController();
    setError(undefined);
    call<Answer>("/api/runs/correlations", { method: "POST", body: JSON.parse(asked), signal: controller.signal }).then(
      setAnswer,
      (fault: unknown) => {
        if (!controller.signal.aborted) setError(fault);
      },
    );
    return () => controller.abort();
  }, [asked, attempt]);
  if (error !== undefined) return <ErrorNote error={error} onRetry={() => setAttempt(attempt + 1)} />;
  if (answer === undefined) return <Skeleton height="24px" lines={4} />;
  const found = answer.correlations.filter(({ spearman }) => spearman !== null).slice(0, LISTED_MAX);
  if (found.length === 0)
    return (
      <EmptyState title="No parameter varies with this metric" icon="gauge">
        At least two runs need a number in their configs that differs, and values of {metric}.
      </EmptyState>
    );
  return (
    <table class="tm-importance">
      <caption>
        How parameters go together with {metric}, over {counted(answer.run_count, "run")}: correlation of ranks, from -1
        to 1
      </caption>
      <thead>
        <tr>
          <th scope="col">Parameter</th>
          <th scope="col">Correlation</th>
          <th scope="col">Linear</th>
          <th scope="col">Runs</th>
        </tr>
      </thead>
      <tbody>
        {found.map(({ column, spearman, pearson, run_count: count }) => (
          <tr key={column}>
            <th scope="row">{column.replace(/^config\./, "")}</th>
            <td>
              <span class={`tm-importance-bar${spearman! < 0 ? " is-negative" : ""}`} aria-hidden="true">
                <span style={{ width: `${50 * Math.abs(spearman!)}%` }} />
              </span>
              {spearman!.toFixed(2)}
            </td>
            <td>{pearson === null ? "" : pearson.toFixed(2)}</td>
            <td>{count}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
