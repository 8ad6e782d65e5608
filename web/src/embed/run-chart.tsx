import { useId, useMemo, useRef, useState } from "preact/hooks";
import { h, type ComponentChildren, type VNode } from "preact";
import { shortNumber } from "../charts/scene/numbers.ts";
import type { Reading } from "../charts/view/readings.ts";
import { useWidth } from "../ui/use-width.ts";
import { EDGE, FONT, type Scene, type Shape } from "../charts/scene/scene.ts";
import { svgElement, type SvgElement } from "../charts/scene/svg-element.ts";
import { linesOf, nearestReading, pictureOf, strokeOf, summaryOf } from "./picture.ts";
import type { ShownChart, ShownRun } from "./view.ts";

const SAMPLED = "Sampled: not every point is shown";

type RunChartProps = {
  readonly chart: ShownChart;
  readonly runs: readonly ShownRun[];
  /** The place of the run that stands out. */
  readonly highlight: number | undefined;
  /** Whether runs differ in their dashes as well. */
  readonly hasPatterns: boolean;
};

/** The chart of a metric key. It shows the point nearest to the pointer. */
export function RunChart({ chart, runs, highlight, hasPatterns }: RunChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [reading, setReading] = useState<Reading | undefined>(undefined);
  const lines = useMemo(() => linesOf(chart, runs, hasPatterns), [chart, runs, hasPatterns]);
  const highlighted = highlight === undefined ? undefined : String(highlight);
  const picture = useMemo(() => pictureOf(lines, width, highlighted), [lines, width, highlighted]);
  const read = ({ clientX, clientY }: PointerEvent): void => {
    if (picture === undefined) return;
    const { left, top } = place.current!.getBoundingClientRect();
    setReading(nearestReading(lines, picture, { left: clientX - left, top: clientY - top }));
  };
  const colorOf = (line: string): string => `c${strokeOf(Number(line), false).color}`;
  const notes = [...(chart.isPartial ? [SAMPLED] : []), ...(picture?.notes ?? [])].join(". ");
  return (
    <section class="chart">
      <h2>
        {chart.key}
        <small> by step</small>
      </h2>
      <div
        ref={place}
        class="plot"
        onPointerMove={read}
        onPointerDown={read}
        onPointerLeave={() => setReading(undefined)}
      >
        {picture === undefined ? (
          <p class="empty">No data</p>
        ) : (
          <ScenePicture
            scene={picture.scene}
            label={summaryOf(chart.key, lines)}
            classOf={(line) => `${colorOf(line)}${line === highlighted ? " is-pointed" : ""}`}
          >
            {reading !== undefined && Number.isFinite(reading.top) && (
              <circle class={`mark ${colorOf(reading.line.id)}`} r="4" cx={reading.left} cy={reading.top} />
            )}
          </ScenePicture>
        )}
      </div>
      <p class="reading">
        {reading === undefined
          ? notes
          : `${shortNumber(reading.value)} at step ${shortNumber(reading.x)} · ${reading.line.name}`}
      </p>
    </section>
  );
}

type ScenePictureProps = {
  readonly scene: Scene;
  /** Describes the picture for people who do not see it. */
  readonly label: string;
  /** The classes of what belongs to the line with this id. */
  readonly classOf: (line: string) => string;
  /** Drawn above all shapes. */
  readonly children?: ComponentChildren;
};

/** A picture as SVG elements, each line with classes by which the style sheet of the page colors it. */
function ScenePicture({ scene, label, classOf, children }: ScenePictureProps) {
  const clip = useId();
  const { width, height, plot } = scene;
  const shown = (shape: Shape): VNode => {
    const { name, attributes, content } = svgElement(shape);
    if (!("line" in shape) || shape.line === undefined) return elementNode({ name, attributes, content });
    const { line, kind, label: lineName } = shape;
    const classes = `line ${classOf(line)}${kind === "dots" ? " dots" : ""}`;
    return elementNode({ name, attributes: { ...attributes, class: classes }, content }, `${line} ${kind} ${lineName}`);
  };
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <clipPath id={clip}>
        <rect x={plot.left - EDGE} y={plot.top - EDGE} width={plot.width + 2 * EDGE} height={plot.height + 2 * EDGE} />
      </clipPath>
      <g font-family={FONT.family} font-size={FONT.size} stroke-linejoin="round">
        {scene.around.map(shown)}
        <g clip-path={`url(#${clip})`}>{scene.inside.map(shown)}</g>
      </g>
      {children}
    </svg>
  );
}

function elementNode({ name, attributes, content = [] }: SvgElement, key?: string): VNode {
  return h(
    name,
    { ...attributes, key },
    typeof content === "string" ? content : content.map((one) => elementNode(one)),
  );
}
