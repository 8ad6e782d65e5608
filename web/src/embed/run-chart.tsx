import { useMemo, useRef, useState } from "preact/hooks";
import { shortNumber } from "../charts/scene/numbers.ts";
import type { Reading } from "../charts/view/readings.ts";
import { useWidth } from "../ui/use-width.ts";
import { linesOf, nearestReading, pictureOf, summaryOf } from "./picture.ts";
import { ScenePicture } from "./scene-picture.tsx";
import { strokeOf } from "./stroke.ts";
import type { ShownChart, ShownRun } from "./view.ts";

type RunChartProps = {
  readonly chart: ShownChart;
  readonly runs: readonly ShownRun[];
  /** The place of the run that stands out. */
  readonly highlight: number | undefined;
};

const SAMPLED = "Sampled: not every point is shown";

/** The chart of a metric key. It shows the point nearest to the pointer. */
export function RunChart({ chart, runs, highlight }: RunChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const [reading, setReading] = useState<Reading | undefined>(undefined);
  const lines = useMemo(() => linesOf(chart, runs), [chart, runs]);
  const highlighted = highlight === undefined ? undefined : String(highlight);
  const picture = useMemo(() => pictureOf(lines, width, highlighted), [lines, width, highlighted]);
  const read = ({ clientX, clientY }: PointerEvent): void => {
    if (picture === undefined) return;
    const { left, top } = place.current!.getBoundingClientRect();
    setReading(nearestReading(lines, picture, { left: clientX - left, top: clientY - top }));
  };
  const colorOf = (line: string): string => `c${strokeOf(Number(line)).color}`;
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
            {reading !== undefined && (
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
