import type { RunRow } from "../../api/run-types.ts";
import { runAddress } from "../../app/addresses.ts";
import { Link } from "../../app/location.tsx";
import { Badge, StatusBadge } from "../../ui/status-badge.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { Time } from "../../ui/time.tsx";
import { useQuery } from "../../api/use-answer.ts";
import { useArtifactLineage, type Artifact, type Collection, type VersionLineage } from "./files/artifacts.ts";
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
  const collections = useQuery<{ collections: Collection[] }>(
    `/api/artifact-collections?project=${encodeURIComponent(run.project)}&limit=100`,
    { version: changes.objects },
  );
  const artifacts = useArtifactLineage(collections.data?.collections);
  const made = artifacts.data.filter(({ edges }) => edges.some(({ from }) => from === `run:${run.id}`));
  const used = artifacts.data.filter(({ edges }) =>
    edges.some(({ to, direction }) => direction === "input" && to === `run:${run.id}`),
  );
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
        <ErrorNote error={collections.error ?? artifacts.error} />
        {artifacts.isLoading && <Skeleton lines={3} height="24px" />}
        {!artifacts.isLoading && made.length === 0 && used.length === 0 && (
          <p class="tm-muted">The newest versions of the project’s artifacts were neither made nor used by this run.</p>
        )}
        <Graph title="Used by this run" lineages={used} project={run.project} runId={run.id} />
        <Graph title="Made by this run" lineages={made} project={run.project} runId={run.id} />
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

function Graph({
  title,
  lineages,
  project,
  runId,
}: {
  readonly title: string;
  readonly lineages: readonly VersionLineage[];
  readonly project: string;
  readonly runId: string;
}) {
  if (lineages.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="tm-tree">
        {lineages.map(({ nodes, edges }) => {
          const version = nodes.find(({ kind }) => kind === "artifact_version");
          const labels = new Map(nodes.map((node) => [node.id, node.label]));
          if (version === undefined) return null;
          return (
            <li key={version.id}>
              <div class="tm-tree-node">
                <strong>{version.label}</strong>
              </div>
              <ul>
                {edges.map(({ from, to, direction }) => {
                  const run = direction === "output" ? from : to;
                  const id = run.replace(/^run:/, "");
                  return (
                    <li key={`${run}/${direction}`}>
                      <div class="tm-tree-node">
                        <Badge kind={direction === "output" ? "accent" : "info"}>
                          {direction === "output" ? "made by" : "used by"}
                        </Badge>
                        {id === runId ? (
                          "this run"
                        ) : (
                          <Link href={runAddress(project, id, "overview")}>{labels.get(run) ?? id.slice(0, 8)}</Link>
                        )}
                      </div>
                    </li>
                  );
                })}
              </ul>
            </li>
          );
        })}
      </ul>
    </>
  );
}
