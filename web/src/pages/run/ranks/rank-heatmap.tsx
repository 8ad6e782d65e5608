import { useEffect, useRef, useState } from "preact/hooks";
import { theme } from "../../../app/theme.ts";
import { metricWords } from "../../../ui/words.ts";
import { heatGrid, heatOf, type HeatCell } from "./heat.ts";

const ROW_MIN = 4;
const ROW_MAX = 22;
const HEIGHT = 320;

/** Orange is above the mean of a step and blue below it, which people with any kind of color vision can distinguish. */
const SCALE = {
  light: { none: [238, 242, 244], low: [29, 95, 168], high: [200, 90, 0] },
  dark: { none: [24, 37, 43], low: [124, 184, 245], high: [240, 160, 60] },
} as const;

const fromMean = (delta: number | null): string =>
  delta === null ? "" : ` (${delta >= 0 ? "+" : "−"}${metricWords(Math.abs(delta))} from the mean)`;

/** How far each rank is from the mean of its step, at each step. Arrows move over the cells; the line below describes the cell. */
export function RankHeatmap({ cells, metric }: { readonly cells: readonly HeatCell[]; readonly metric: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = heatGrid(cells);
  const [at, setAt] = useState<{ readonly column: number; readonly row: number }>();
  const columns = grid.steps.length;
  const rows = grid.ranks.length;
  const height = Math.min(Math.max(HEIGHT, rows * ROW_MIN), rows * ROW_MAX);
  const name = theme.value;
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (element === null || context === null || context === undefined) return undefined;
    const draw = (): void => {
      const ratio = window.devicePixelRatio;
      const width = element.clientWidth;
      element.width = Math.round(width * ratio);
      element.height = Math.round(height * ratio);
      const { none, low, high } = SCALE[name];
      const wide = element.width / columns;
      const tall = element.height / rows;
      grid.cells.forEach((column, x) =>
        column.forEach((cell, y) => {
          if (cell === undefined) return;
          const heat = heatOf(cell, grid.most);
          const to = heat < 0 ? low : high;
          const mix = none.map((part, i) => Math.round(part + (to[i]! - part) * Math.abs(heat)));
          context.fillStyle = `rgb(${mix.join(" ")})`;
          context.fillRect(Math.floor(x * wide), Math.floor(y * tall), Math.ceil(wide), Math.ceil(tall));
        }),
      );
      if (at !== undefined) {
        context.strokeStyle = name === "light" ? "#10212b" : "#e6eef1";
        context.lineWidth = 2 * ratio;
        context.strokeRect(at.column * wide, at.row * tall, wide, tall);
      }
    };
    draw();
    const observer = new ResizeObserver(draw);
    observer.observe(element);
    return () => observer.disconnect();
  }, [cells, name, at, height]);
  const cell = at === undefined ? undefined : grid.cells[at.column]?.[at.row];
  const move = (event: KeyboardEvent): void => {
    const [x, y] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
    if (x === undefined || y === undefined) return;
    event.preventDefault();
    const { column, row } = at ?? { column: -x, row: y === 0 ? 0 : -y };
    setAt({ column: Math.min(Math.max(column + x, 0), columns - 1), row: Math.min(Math.max(row + y, 0), rows - 1) });
  };
  const words = `${metric} of ${rows} ranks at ${columns} steps, from ${grid.steps[0]} to ${grid.steps.at(-1)}`;
  return (
    <div class="tm-heat">
      <canvas
        ref={canvas}
        role="img"
        tabIndex={0}
        aria-label={`Heat map: ${words}. Arrow keys move over it.`}
        style={{ height: `${height}px` }}
        onKeyDown={move}
        onPointerMove={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
          const row = Math.floor(((event.clientY - box.top) / box.height) * rows);
          setAt({ column: Math.min(Math.max(column, 0), columns - 1), row: Math.min(Math.max(row, 0), rows - 1) });
        }}
      />
      <p class="tm-heat-scale">
        <span>Below the mean of its step</span>
        <span class="tm-heat-ramp" aria-hidden="true" />
        <span>above it</span>
      </p>
      <p class="tm-heat-here" role="status">
        {at === undefined
          ? "Point at a cell to read it."
          : cell === undefined
            ? `Rank ${grid.ranks[at.row]} reported nothing at step ${grid.steps[at.column]}.`
            : `Step ${cell.step}, rank ${cell.rank}: ${metricWords(cell.value)}${fromMean(cell.delta_from_mean)}`}
      </p>
    </div>
  );
}
