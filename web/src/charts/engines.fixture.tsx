import { render } from "preact";
import "../styles/tokens.css";
import "../styles/base.css";
import { LineChart } from "./line-chart.tsx";
import { PALETTE } from "./look/palette.ts";
import type { Line } from "./scene/line-model.ts";
import type { Range } from "./scene/scale.ts";

/** What the bench of chart engines needs of uPlot, which it adds to the page as a script. */
type UPlot = {
  readonly setScale: (name: "x", range: { readonly min: number; readonly max: number }) => void;
  readonly cursor: { readonly idx: number | null };
  readonly posToVal: (top: number, scale: "y") => number;
};
declare global {
  interface Window {
    uPlot: new (options: object, data: readonly ArrayLike<number>[], place: HTMLElement) => UPlot;
    /** Makes lines of noise for an engine, and returns what draws them in a place of 1000 x 400 pixels, and then zooms to a range of steps. */
    engines: Readonly<
      Record<"own" | "uPlot", (lines: number, points: number, hasBands: boolean) => () => (range: Range) => void>
    >;
  }
}

const SIZE = { width: 1000, height: 400 } as const;
const STEPS = 100_000;
const place = document.querySelector<HTMLElement>("#app")!;
place.style.width = `${SIZE.width}px`;

/** The same noise each time (mulberry32). */
function linesOf(count: number, points: number, hasBands: boolean): Line[] {
  let state = 1;
  const noise = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const x = Float64Array.from({ length: points }, (_, i) => (i * STEPS) / points);
  return Array.from({ length: count }, (_, k): Line => {
    const y = x.map((step) => 1 + k / 50 + Math.exp(-step / 30_000) + noise() / 5);
    const bands = hasBands ? { low: y.map((value) => value - 0.1), high: y.map((value) => value + 0.1) } : {};
    return { id: String(k), name: `run ${k}`, color: PALETTE.light[k % 16]!, dash: [], x, y, ...bands };
  });
}

window.engines = {
  own(count, points, hasBands) {
    const lines = linesOf(count, points, hasBands);
    const draw = (zoomX: Range | undefined): void => {
      const axes = { x: { kind: "step", log: false }, y: { log: false, ignoreOutliers: false }, zoomX } as const;
      render(<LineChart title="loss" lines={lines} axes={axes} height={SIZE.height} />, place);
    };
    return () => {
      draw(undefined);
      return draw;
    };
  },
  uPlot(count, points, hasBands) {
    const lines = linesOf(count, points, hasBands);
    const columns = lines.flatMap(({ y, low, high }) => (hasBands ? [y, high!, low!] : [y]));
    const each = hasBands ? 3 : 1;
    const tip = document.body.appendChild(document.createElement("div"));
    tip.style.cssText = "position: fixed; left: 0; bottom: 0; pointer-events: none";
    const options = {
      ...SIZE,
      scales: { x: { time: false } },
      legend: { show: false },
      series: [
        {},
        ...lines.flatMap(({ color }) =>
          Array.from({ length: each }, (_, k) => ({
            stroke: k === 0 ? color : undefined,
            width: 1.5,
            points: { show: false },
          })),
        ),
      ],
      bands: hasBands ? lines.map(({ color }, k) => ({ series: [3 * k + 2, 3 * k + 3], fill: `${color}2e` })) : [],
      hooks: {
        // The eight values nearest to the pointer, as the dashboard lists them.
        setCursor: [
          (at: UPlot & { readonly cursor: { readonly top: number } }) => {
            const { idx, top } = at.cursor;
            if (idx === null) return;
            const here = at.posToVal(top, "y");
            const away = (line: Line): number => Math.abs(line.y[idx]! - here);
            const near = lines.toSorted((a, b) => away(a) - away(b)).slice(0, 8);
            tip.replaceChildren(
              ...near.map((line) => {
                const row = document.createElement("div");
                row.textContent = `${line.name} ${line.y[idx]!.toFixed(4)}`;
                return row;
              }),
            );
          },
        ],
      },
    };
    return () => {
      const plot = new window.uPlot(options, [lines[0]!.x, ...columns], place);
      return ([min, max]) => plot.setScale("x", { min, max });
    };
  },
};
