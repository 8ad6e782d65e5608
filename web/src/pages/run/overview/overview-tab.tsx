import { valueText } from "../../../api/exact-value.ts";
import { isNewestNonFinite, type Aggregate, type AttributeRow } from "../../../api/run-types.ts";
import { useQuery } from "../../../api/use-answer.ts";
import { runAddress } from "../../../app/addresses.ts";
import { Link } from "../../../app/location.tsx";
import { counted, metricWords } from "../../../ui/words.ts";
import { Skeleton } from "../../../ui/spinner.tsx";
import { configRows, isBranch, mergeConfig } from "../config/config-rows.ts";
import type { TabProps } from "../run-actions.ts";
import { FailurePanel } from "./failure-panel.tsx";
import { EXIT_CODE, factsOf, mainMetrics } from "./facts.ts";
import { RunFacts } from "./run-facts.tsx";
import { Notes, Readme } from "./run-texts.tsx";

const METRICS_SHOWN = 12;
const CONFIG_SHOWN = 16;

/** Tells of values that are not finite; undefined without any. */
function nonFiniteTitle({ non_finite: count, non_finite_step: step, latest }: Aggregate): string | undefined {
  if (count === undefined) return undefined;
  const last = latest === null ? "" : `, the latest finite value is ${latest}`;
  return `${counted(count, "value")} NaN or infinite, the newest at step ${step}${last}`;
}

/** The first facts about a run: why it was made, how well it did, with which settings and where. */
export function OverviewTab({ run, changes, canWrite, reload }: TabProps) {
  const config = useQuery<{ attributes: AttributeRow[] }>(
    `/api/runs/${run.id}/attributes?path_prefix=config/&limit=1000`,
  );
  const system = useQuery<{ attributes: AttributeRow[] }>(`/api/runs/${run.id}/attributes?path_prefix=sys/&limit=500`);
  const { tree } = mergeConfig(run.config, config.data?.attributes ?? []);
  const rows = configRows(tree).filter((row) => !isBranch(row));
  const facts = factsOf(run.metadata, system.data?.attributes ?? []);
  const metrics = mainMetrics(run.metric_aggregates, METRICS_SHOWN);
  return (
    <div class="tm-overview">
      <div class="tm-overview-main">
        {run.status === "failed" && (
          <FailurePanel run={run} exitCode={facts.find(({ name }) => name === EXIT_CODE)?.value} />
        )}
        <Notes run={run} canWrite={canWrite} reload={reload} />
        <Readme runId={run.id} version={changes.run} canWrite={canWrite} />
      </div>
      <div class="tm-overview-side">
        <RunFacts run={run} />
        <section class="tm-panel" aria-labelledby="run-metrics">
          <header>
            <h2 id="run-metrics">Metrics</h2>
            {run.metric_keys_total > 0 && (
              <Link
                href={runAddress(run.project, run.id, "charts")}
              >{`Show ${counted(run.metric_keys_total, "chart")}`}</Link>
            )}
          </header>
          {metrics.length === 0 ? (
            <p class="tm-muted">Nothing logged yet.</p>
          ) : (
            <table class="tm-facts-table">
              <thead>
                <tr>
                  <th scope="col">Metric</th>
                  <th scope="col" class="tm-number">
                    Latest
                  </th>
                  <th scope="col" class="tm-number">
                    Best
                  </th>
                </tr>
              </thead>
              <tbody>
                {metrics.map(([key, metric]) => (
                  <tr key={key}>
                    <th scope="row">{key}</th>
                    <td class="tm-number" title={nonFiniteTitle(metric)}>
                      {isNewestNonFinite(metric) ? "NaN" : metricWords(metric.latest)}
                    </td>
                    <td class="tm-number" title={metric.best_step === null ? undefined : `At step ${metric.best_step}`}>
                      {metricWords(metric.best)}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
        <section class="tm-panel" aria-labelledby="run-config">
          <header>
            <h2 id="run-config">Config</h2>
            {rows.length > 0 && (
              <Link href={runAddress(run.project, run.id, "config")}>{`Show ${counted(rows.length, "value")}`}</Link>
            )}
          </header>
          {rows.length === 0 &&
            (config.isLoading ? <Skeleton lines={3} /> : <p class="tm-muted">This run has no config.</p>)}
          <dl class="tm-pairs">
            {rows.slice(0, CONFIG_SHOWN).map((row) => (
              <div key={JSON.stringify(row.path)}>
                <dt>{row.path.join(".")}</dt>
                <dd>{valueText(row.value)}</dd>
              </div>
            ))}
          </dl>
        </section>
        <section class="tm-panel" aria-labelledby="run-environment">
          <h2 id="run-environment">Environment and code</h2>
          {facts.length === 0 && <p class="tm-muted">This run logged nothing about its machine or commit.</p>}
          <dl class="tm-pairs">
            {facts.map(({ name, value, href }) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  {href === undefined ? (
                    value
                  ) : (
                    <a href={href} target="_blank" rel="noopener noreferrer">
                      {value}
                    </a>
                  )}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </div>
  );
}
