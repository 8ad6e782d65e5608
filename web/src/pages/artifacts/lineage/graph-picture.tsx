import type { RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Link } from "../../../app/location.tsx";
import { classes } from "../../../ui/class-names.ts";
import { Icon } from "../../../ui/icon.tsx";
import { StatusDot } from "../../../ui/status-badge.tsx";
import { useWidth } from "../../../ui/use-width.ts";
import { graphHref } from "../page-links.ts";
import { linePath, detailWords, nodeAddress, nodeWords, type Graph, type GraphNode } from "./graph.ts";
import { layOut, NODE, type Layout } from "./layout.ts";

/** The graph as a picture that scrolls; its nodes are links, in the order from left to right. */
export function GraphPicture({
  graph,
  project,
  zoom,
  onScale,
}: {
  readonly graph: Graph;
  readonly project: string;
  /** The size of the picture as a part of the full one, or as large as fits. */
  readonly zoom: number | "fit";
  /** Called with the size that it has. */
  readonly onScale: (scale: number) => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, height] = [useWidth(frame), useMostHeight(frame)];
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
  const scale = zoom === "fit" ? fitting(layout, width, height) : zoom;
  useLayoutEffect(() => onScale(scale), [scale]);
  // The version itself is in the middle as far as the picture can be scrolled.
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    element.scrollLeft = (own.x + NODE.width / 2) * scale - element.clientWidth / 2;
    element.scrollTop = (own.y + NODE.height / 2) * scale - element.clientHeight / 2;
  }, [layout, scale]);
  return (
    <div ref={frame} class="tm-lineage" role="region" aria-label="Graph of the lineage" tabIndex={0}>
      <div
        class="tm-lineage-space"
        style={{ width: `${layout.width * scale}px`, height: `${layout.height * scale}px` }}
      >
        <div
          class="tm-lineage-sheet"
          style={{ width: `${layout.width}px`, height: `${layout.height}px`, transform: `scale(${scale})` }}
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
                  <NodeLink node={node} graph={graph} project={project} />
                </li>
              );
            })}
          </ul>
        </div>
      </div>
    </div>
  );
}

/** The smallest size in which it is shown, so that it can be seen. */
const SMALLEST = 0.15;

/** Returns the size in which a picture fits into a frame, without its padding; never more than the full one. */
function fitting(layout: Layout, width: number, height: number): number {
  const room = 2 * PADDING;
  return Math.max(SMALLEST, Math.min(1, (width - room) / layout.width, (height - room) / layout.height));
}

/** Pixels around the picture, as the style says. */
const PADDING = 12;

/** Returns how high an element can be. */
function useMostHeight(element: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(0);
  useLayoutEffect(() => {
    const read = (): void => setHeight(Number.parseFloat(getComputedStyle(element.current!).maxHeight));
    read();
    addEventListener("resize", read);
    return () => removeEventListener("resize", read);
  }, []);
  return height;
}

function NodeLink({
  node,
  graph,
  project,
}: {
  readonly node: GraphNode;
  readonly graph: Graph;
  readonly project: string;
}) {
  const address = nodeAddress(node, project, graphHref);
  const isRun = node.kind === "run";
  const contents = (
    <>
      <span class="tm-hidden tm-lineage-words">{nodeWords(node, graph)}</span>
      <span class="tm-lineage-look" aria-hidden="true">
        {isRun ? <StatusDot status={node.state} /> : <Icon name="file" />}
        <span class="tm-lineage-text">
          <span class="tm-lineage-name">{node.label}</span>
          <span class="tm-lineage-more">{detailWords(node)}</span>
        </span>
        {node.more && (
          <span class="tm-lineage-plus" title="It has more neighbors than are shown">
            +
          </span>
        )}
      </span>
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
