import { useMemo, useRef, useState } from "preact/hooks";
import { heatmapScene, type HeatmapData } from "../scene/heatmap-scene.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { useWidth } from "../view/canvas-stage.ts";
import { pageInks } from "../view/page-inks.ts";
import { Stage } from "./stage.tsx";

/** Values of rows, such as ranks, over steps, as colors. Pointing and arrow keys tell the values; a press calls `onStep` with the step. */
export function Heatmap({
  title,
  data,
  height = 260,
  onStep,
}: {
  readonly title: string;
  readonly data: HeatmapData;
  readonly height?: number;
  readonly onStep?: (step: number) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [at, setAt] = useState<{ readonly row: number; readonly column: number } | undefined>(undefined);
  const drawn = useMemo(
    () => (width === 0 ? undefined : heatmapScene(data, { width, height }, inks)),
    [data, width, height, inks],
  );
  const row = at === undefined ? undefined : data.rows[at.row];
  const value = at === undefined ? undefined : row?.values[at.column];
  const said =
    at === undefined || row === undefined
      ? ""
      : `${row.name}, step ${shortNumber(data.steps[at.column]!)}: ${value === undefined || Number.isNaN(value) ? "no value" : shortNumber(value)}`;
  const moves: Readonly<Record<string, readonly [number, number]>> = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && at !== undefined) onStep?.(data.steps[at.column]!);
    const move = moves[event.key];
    if (move === undefined || data.rows.length === 0) return;
    event.preventDefault();
    const within = (next: number, count: number): number => Math.min(Math.max(0, next), count - 1);
    setAt(
      at === undefined
        ? { row: 0, column: 0 }
        : { row: within(at.row + move[0], data.rows.length), column: within(at.column + move[1], data.steps.length) },
    );
  };
  const summary =
    drawn === undefined
      ? `${title}: no values`
      : `${title}: ${counted(data.rows.length, "row")}, ${counted(data.steps.length, "step")}, values ${drawn.range.map(shortNumber).join(" to ")}. Arrow keys read values.`;
  return (
    <Stage
      place={place}
      title={title}
      summary={summary}
      scene={drawn?.scene}
      height={height}
      said={said}
      onPoint={(left, top) => setAt(drawn?.at(left, top))}
      onPress={(left, top) => {
        const found = drawn?.at(left, top);
        if (found !== undefined) onStep?.(data.steps[found.column]!);
      }}
      onLeave={() => setAt(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}
