import { GRAPH_HOPS, GRAPH_NODES_MAX } from "@tidemark/limits";
import { useState } from "preact/hooks";
import { useQuery } from "../../../api/use-answer.ts";
import type { Version } from "../../../artifacts/artifact-types.ts";
import { runAddress } from "../../../app/addresses.ts";
import { Link, setQuery } from "../../../app/location.tsx";
import { IconButton } from "../../../ui/button.tsx";
import { Select } from "../../../ui/field.tsx";
import { ErrorNote } from "../../../ui/page-states.tsx";
import { Skeleton } from "../../../ui/spinner.tsx";
import { useLast } from "../../../ui/use-last.ts";
import { counted } from "../../../ui/words.ts";
import { GraphPicture } from "./graph-picture.tsx";
import { graphHref } from "../page-links.ts";
import { neighborWords, nodeAddress, sizeWords, type Graph } from "./graph.ts";

/** The distances that can be chosen. */
const HOPS = [2, GRAPH_HOPS.default, 6, GRAPH_HOPS.max];

/** The sizes of the picture, as parts of the full one. */
const ZOOMS = [0.3, 0.45, 0.6, 0.8, 1, 1.3] as const;

/** What a version was made from and what was made from it, as a picture and as a list. */
export function LineageView({
  project,
  version,
  hops,
  changes,
}: {
  readonly project: string;
  readonly version: Version;
  readonly hops: number;
  readonly changes: number;
}) {
  const read = useQuery<Graph>(`/api/artifact-versions/${version.id}/graph?hops=${hops}`, { version: changes });
  // While it is read for another distance, the graph before stays.
  const last = useLast(read.data);
  const graph = read.data === undefined && read.error !== undefined ? undefined : last;
  const [zoom, setZoom] = useState<number | "fit">(1);
  // What fits has a size between the steps.
  const [scale, setScale] = useState(1);
  const smaller = ZOOMS.findLast((one) => one < scale - 0.01);
  const larger = ZOOMS.find((one) => one > scale + 0.01);
  return (
    <section class="tm-panel" aria-label="Lineage" aria-busy={graph === undefined && read.error === undefined}>
      <header>
        <span class="tm-muted" role="status">
          {graph === undefined ? "" : sizeWords(graph)}
        </span>
        <span class="tm-lineage-keys" aria-hidden="true">
          <span class="tm-lineage-key">made</span>
          <span class="tm-lineage-key tm-lineage-key-used">used</span>
        </span>
        <span class="tm-lineage-tools">
          <Select
            label="Distance"
            hideLabel
            value={String(hops)}
            options={[...new Set([...HOPS, hops])]
              .toSorted((a, b) => a - b)
              .map((count) => ({
                value: String(count),
                label: `Up to ${counted(count, "step")}`,
              }))}
            onChange={(count) => setQuery({ hops: count === String(GRAPH_HOPS.default) ? undefined : count })}
          />
          <IconButton icon="minus" label="Smaller" disabled={smaller === undefined} onClick={() => setZoom(smaller!)} />
          <IconButton icon="plus" label="Larger" disabled={larger === undefined} onClick={() => setZoom(larger!)} />
          <IconButton
            icon="expand"
            label="Show all of it"
            pressed={zoom === "fit"}
            onClick={() => setZoom(zoom === "fit" ? 1 : "fit")}
          />
        </span>
      </header>
      <ErrorNote error={read.error} onRetry={read.reload} />
      {graph === undefined && read.error === undefined && <Skeleton height="220px" />}
      {graph !== undefined && <GraphPicture graph={graph} project={project} zoom={zoom} onScale={setScale} />}
      {graph?.truncated === true && <EndNote graph={graph} project={project} runId={version.source_run_id} />}
      {graph !== undefined && <GraphList graph={graph} project={project} />}
    </section>
  );
}

/** Says where the graph ends and how to go on. */
function EndNote({
  graph,
  project,
  runId,
}: {
  readonly graph: Graph;
  readonly project: string;
  readonly runId: string;
}) {
  return (
    <p class="tm-muted">
      {`Nodes with a plus sign have more neighbors: the graph goes ${counted(graph.hops, "step")} in each direction and shows up to ${graph.limit} neighbors of a node and ${GRAPH_NODES_MAX} nodes. Open such a node to go on from there. `}
      <Link href={runAddress(project, runId, "lineage")}>Everything that the run made and used</Link>
    </p>
  );
}

/** The same as the picture, line by line. */
function GraphList({ graph, project }: { readonly graph: Graph; readonly project: string }) {
  const nodes = graph.nodes.toSorted((a, b) => a.hop - b.hop);
  return (
    <details class="tm-lineage-list">
      <summary>Show as a list</summary>
      <ol>
        {nodes.map((node) => {
          const address = nodeAddress(node, project, graphHref);
          return (
            <li key={node.id}>
              {node.kind === "run" ? "Run " : "Version "}
              {address === undefined ? node.label : <Link href={address}>{node.label}</Link>}
              {node.hop === 0 && <strong> (this version)</strong>}
              {address === undefined && " (deleted)"}
              {`. ${neighborWords(node, graph)}`}
            </li>
          );
        })}
      </ol>
    </details>
  );
}
