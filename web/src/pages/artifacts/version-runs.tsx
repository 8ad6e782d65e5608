import { useQuery } from "../../api/use-answer.ts";
import type { Version, VersionLineage } from "../../artifacts/artifact-types.ts";
import { runAddress } from "../../app/addresses.ts";
import { Link } from "../../app/location.tsx";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { counted } from "../../ui/words.ts";

type Node = VersionLineage["nodes"][number];

/** The runs that made a version, and those that used it. */
export function VersionRuns({
  project,
  version,
  changes,
}: {
  readonly project: string;
  readonly version: Version;
  readonly changes: number;
}) {
  const { data, error, reload } = useQuery<VersionLineage>(`/api/artifact-versions/${version.id}/lineage`, {
    version: changes,
  });
  const nodes = new Map(data?.nodes.map((node) => [node.id, node]));
  const of = (wanted: "input" | "output"): readonly Node[] =>
    (data?.edges ?? [])
      .filter(({ direction }) => direction === wanted)
      .map(({ from, to }) => nodes.get(wanted === "output" ? from : to)!);
  return (
    <section class="tm-panel" aria-labelledby="version-runs">
      <h3 id="version-runs">Runs</h3>
      <ErrorNote error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Skeleton lines={3} height="22px" />}
      {data !== undefined && (
        <>
          <h4>Made by</h4>
          <RunList runs={of("output")} project={project} none="The run that made it was deleted." />
          <h4>Used by</h4>
          <RunList runs={of("input")} project={project} none="No run has used it." />
          {data.truncated && <p class="tm-muted">{`The first ${counted(data.edges.length, "run")} are listed.`}</p>}
        </>
      )}
    </section>
  );
}

function RunList({
  runs,
  project,
  none,
}: {
  readonly runs: readonly Node[];
  readonly project: string;
  readonly none: string;
}) {
  if (runs.length === 0) return <p class="tm-muted">{none}</p>;
  return (
    <ul class="tm-artifact-runs">
      {runs.map(({ id, label, state, summary }) => (
        <li key={id}>
          <Link href={runAddress(summary.project ?? project, id.replace(/^run:/, ""), "overview")}>{label || id}</Link>{" "}
          <StatusBadge status={state} />
        </li>
      ))}
    </ul>
  );
}
