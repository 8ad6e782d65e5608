import type { RunRow } from "../../api/run-types.ts";
import { runAddress } from "../../app/addresses.ts";
import { Link } from "../../app/location.tsx";
import { Badge, StatusBadge } from "../../ui/status-badge.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { byteWords, counted, countWords } from "../../ui/words.ts";
import type { VersionLineage } from "../../artifacts/artifact-types.ts";
import { versionAddress } from "../../artifacts/artifact-addresses.ts";
import { useRunVersions, useVersionLineages, type Artifact, type RunVersion } from "./files/artifacts.ts";
import type { TabProps } from "./run-actions.ts";

type Lineage = {
  readonly run: RunRow;
  readonly parent: RunRow | null;
  readonly children: readonly RunRow[];
  readonly checkpoint_artifact: Artifact | null;
  readonly children_total: number;
};

/** The origin of a run and what was made from it: forks, and the artifacts that it made and used. */
export function LineageTab({ run, changes }: TabProps) {
  const read = useQuery<Lineage>(`/api/runs/${run.id}/lineage`, { version: changes.run });
  const lineage = read.data;
  const { versions, total, error } = useRunVersions(run.id, changes.objects);
  const lineages = useVersionLineages((versions ?? []).map(({ artifact_version: { id } }) => id));
  const of = (wanted: RunVersion["direction"]): readonly RunVersion[] =>
    (versions ?? []).filter(({ direction }) => direction === wanted);
  const shared = { lineages, project: run.project, runId: run.id };
  return (
    <div class="tm-two">
      <section class="tm-panel" aria-labelledby="lineage-forks">
        <h2 id="lineage-forks">Forks</h2>
        <ErrorNote error={read.error} onRetry={read.reload} />
        {lineage === undefined && read.error === undefined && <Skeleton lines={4} height="24px" />}
        {lineage !== undefined && <ForkTree lineage={lineage} />}
        {lineage !== undefined && lineage.parent === null && lineage.children.length === 0 && (
          <EmptyState title="No forks" icon="fork">
            This run was not forked from another one, and none was forked from it. “Fork run” in the menu of this page
            makes one.
          </EmptyState>
        )}
      </section>
      <section class="tm-panel" aria-labelledby="lineage-artifacts">
        <h2 id="lineage-artifacts">Artifacts</h2>
        <ErrorNote error={error} />
        {versions === undefined && error === undefined && <Skeleton lines={3} height="24px" />}
        {versions?.length === 0 && <p class="tm-muted">This run neither made nor used a versioned artifact.</p>}
        <Versions title="Used by this run" versions={of("input")} {...shared} />
        <Versions title="Made by this run" versions={of("output")} {...shared} />
        {versions !== undefined && total > versions.length && (
          <p class="tm-muted">{`${counted(versions.length, "version")} of ${countWords(total)} are shown.`}</p>
        )}
      </section>
    </div>
  );
}

function ForkTree({
  lineage: { run, parent, children, children_total: total, checkpoint_artifact: checkpoint },
}: {
  readonly lineage: Lineage;
}) {
  const own = (
    <li>
      <Node run={run} isHere />
      {checkpoint !== null && <p class="tm-muted">{`From the checkpoint ${checkpoint.name}`}</p>}
      {children.length > 0 && (
        <ul>
          {children.map((child) => (
            <li key={child.id}>
              <Node run={child} />
            </li>
          ))}
        </ul>
      )}
      {total > children.length && (
        <p class="tm-muted">{`The newest ${children.length} of ${total} forks are shown.`}</p>
      )}
    </li>
  );
  return (
    <ul class="tm-tree">
      {parent === null ? (
        own
      ) : (
        <li>
          <Node run={parent} />
          <ul>{own}</ul>
        </li>
      )}
    </ul>
  );
}

function Node({ run, isHere = false }: { readonly run: RunRow; readonly isHere?: boolean }) {
  return (
    <div class={isHere ? "tm-tree-node tm-tree-here" : "tm-tree-node"}>
      {isHere ? (
        <strong aria-current="page">{run.name}</strong>
      ) : (
        <Link href={runAddress(run.project, run.id, "overview")}>{run.name}</Link>
      )}
      <StatusBadge status={run.run_control.display_status} stale={run.stale} />
      {run.forked_from_step !== null && <span class="tm-muted">{`at step ${run.forked_from_step}`}</span>}
      <span class="tm-muted">
        <Time at={run.created_at} />
      </span>
    </div>
  );
}

function Versions({
  title,
  versions,
  lineages,
  project,
  runId,
}: {
  readonly title: string;
  readonly versions: readonly RunVersion[];
  readonly lineages: ReadonlyMap<string, VersionLineage>;
  readonly project: string;
  readonly runId: string;
}) {
  if (versions.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="tm-tree">
        {versions.map(({ artifact_version: version }) => (
          <li key={version.id}>
            <div class="tm-tree-node">
              {version.state === "active" ? (
                <Link
                  href={versionAddress(project, version.id, "lineage")}
                >{`${version.name}:${version.version}`}</Link>
              ) : (
                <strong>{`${version.name}:${version.version}`}</strong>
              )}
              {version.aliases.map((alias) => (
                <Badge key={alias} kind="info">
                  {alias}
                </Badge>
              ))}
              {version.state === "soft_deleted" && <Badge kind="bad">Deleted</Badge>}
              <span class="tm-muted">
                {counted(version.file_count, "file")}, {byteWords(version.size_bytes)}
              </span>
            </div>
            <Others lineage={lineages.get(version.id)} project={project} runId={runId} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** The other runs that made or used a version. */
function Others({
  lineage,
  project,
  runId,
}: {
  readonly lineage: VersionLineage | undefined;
  readonly project: string;
  readonly runId: string;
}) {
  const labels = new Map(lineage?.nodes.map((node) => [node.id, node.label]));
  const others = (lineage?.edges ?? [])
    .map(({ from, to, direction }) => ({ node: direction === "output" ? from : to, direction }))
    .filter(({ node }) => node !== `run:${runId}`);
  if (others.length === 0) return null;
  return (
    <ul>
      {others.map(({ node, direction }) => (
        <li key={`${node}/${direction}`}>
          <div class="tm-tree-node">
            <Badge kind={direction === "output" ? "accent" : "info"}>
              {direction === "output" ? "made by" : "used by"}
            </Badge>
            <Link href={runAddress(project, node.replace(/^run:/, ""), "overview")}>{labels.get(node) ?? node}</Link>
          </div>
        </li>
      ))}
    </ul>
  );
}
