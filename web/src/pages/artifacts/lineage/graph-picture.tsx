import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { Link } from "../../../app/location.tsx";
import { classes } from "../../../ui/class-names.ts";
import { Icon } from "../../../ui/icon.tsx";
import { StatusDot } from "../../../ui/status-badge.tsx";
import { linePath, neighborWords, nodeAddress, type Graph, type GraphNode } from "./graph.ts";
import { layOut, NODE } from "./layout.ts";

/** The graph as a picture that scrolls; its nodes are links, in the order from left to right. */
export function GraphPicture({ graph, zoom }: { readonly graph: Graph; readonly zoom: number }) {
  const frame = useRef<HTMLDivElement>(null);
  const { nodes, edges } = graph;
  const layout = useMemo(
    () =>
      layOut(
        nodes.map(({ id }) => id),
        edges,
      ),
    [graph],
  );
  const placeOf = (node: GraphNode) => layout.nodes.get(node.id)!;
  const ordered = nodes.toSorted((a, b) => placeOf(a).layer - placeOf(b).layer || placeOf(a).y - placeOf(b).y);
  const own = placeOf(nodes[0]!);
  // The version itself is in the middle as far as the picture can be scrolled.
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    element.scrollLeft = (own.x + NODE.width / 2) * zoom - element.clientWidth / 2;
    element.scrollTop = (own.y + NODE.height / 2) * zoom - element.clientHeight / 2;
  }, [layout, zoom]);
  return (
    <div ref={frame} class="tm-lineage" role="region" aria-label="Graph of the lineage" tabIndex={0}>
      <div class="tm-lineage-space" style={{ width: `${layout.width * zoom}px`, height: `${layout.height * zoom}px` }}>
        <div
          class="tm-lineage-sheet"
          style={{ width: `${layout.width}px`, height: `${layout.height}px`, transform: `scale(${zoom})` }}
        >
          <svg width={layout.width} height={layout.height} aria-hidden="true" focusable="false">
            <defs>
              <marker
                id="tm-lineage-end"
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="8"
                markerHeight="8"
                orient="auto"
              >
                <path d="M0 0.5L8 4L0 7.5z" />
              </marker>
            </defs>
            {edges.map(({ from, to, direction }, i) => (
              <path
                key={`${from} ${to}`}
                class={classes("tm-lineage-line", direction === "input" && "tm-lineage-used")}
                d={linePath(layout.lines[i]!)}
                marker-end="url(#tm-lineage-end)"
              />
            ))}
          </svg>
          <ul>
            {ordered.map((node) => {
              const { x, y } = placeOf(node);
              return (
                <li
                  key={node.id}
                  style={{ left: `${x}px`, top: `${y}px`, width: `${NODE.width}px`, height: `${NODE.height}px` }}
                >
                  <NodeLink node={node} graph={graph} />
                </li>
              );
            })}
          </ul>
        </div>
      </div>
    </div>
  );
}

function NodeLink({ node, graph }: { readonly node: GraphNode; readonly graph: Graph }) {
  const address = nodeAddress(node, graph.hops);
  const isRun = node.kind === "run";
  const contents = (
    <>
      {isRun ? <StatusDot status={node.state} /> : <Icon name="file" />}
      <span class="tm-lineage-text">
        <span class="tm-hidden">{isRun ? "Run " : "Version "}</span>
        <span class="tm-lineage-name">{node.label}</span>
        <span class="tm-lineage-more">
          {isRun ? node.summary.project : [node.summary.type, ...(node.summary.aliases ?? [])].join(", ")}
        </span>
        <span class="tm-hidden">{`. ${neighborWords(node, graph)}`}</span>
      </span>
      {node.more && (
        <span class="tm-lineage-plus" title="It has more neighbors than are shown" aria-hidden="true">
          +
        </span>
      )}
    </>
  );
  const look = classes("tm-lineage-node", isRun && "tm-lineage-run", node.hop === 0 && "tm-lineage-own");
  if (address === undefined) return <span class={classes(look, "tm-lineage-gone")}>{contents}</span>;
  return (
    <Link class={look} href={address} title={node.label} aria-current={node.hop === 0 ? "true" : undefined}>
      {contents}
    </Link>
  );
}
