import { html, svg } from "./elements.ts";
import { extentOf, nearestPoint, pathsOf, shareOf, type Extent, type Scale } from "./lines.ts";
import { strokeOf } from "./stroke.ts";
import { CHARACTER_PIXELS, roundRange, roundTicks, shortNumber, tickLabels, ticksWithin } from "./ticks.ts";
import type { ShownChart, ShownRun } from "./view.ts";

/** A chart on the page. */
export type Chart = {
  readonly element: HTMLElement;
  /** Draws it as wide as its element is now. */
  draw(): void;
};

const HEIGHT = 240;
const MARGIN = { top: 10, right: 14, bottom: 26 } as const;
/** Pixels between two labels of the vertical axis. */
const ROWS_APART = 36;

/** Makes the chart of a metric key. It shows the point nearest to the pointer. */
export function createChart(chart: ShownChart, runs: readonly ShownRun[]): Chart {
  const lines = chart.lines.map(({ points }) => points);
  const extent = extentOf(lines);
  const reading = html("p", { class: "reading" });
  const place = html("div", { class: "plot" });
  const element = html(
    "section",
    { class: "chart" },
    html("h2", {}, chart.key, html("small", {}, " by step")),
    place,
    reading,
  );
  const usual = chart.isPartial ? "Sampled: not every point is shown" : "";
  reading.textContent = usual;
  if (extent === undefined) {
    place.append(html("p", { class: "empty" }, "No data"));
    return { element, draw: () => undefined };
  }
  const label = `${chart.key}: ${lines.length === 1 ? "1 run" : `${lines.length} runs`}, steps ${extent.steps.map(shortNumber).join(" to ")}, values ${extent.values.map(shortNumber).join(" to ")}`;
  const mark = svg("circle", { r: 4, class: "mark" });
  let scale: Scale | undefined;

  const read = (event: PointerEvent): void => {
    const picture = place.firstElementChild;
    if (scale === undefined || picture === null) return;
    const { left, top } = picture.getBoundingClientRect();
    const found = nearestPoint(lines, scale, { x: event.clientX - left, y: event.clientY - top });
    if (found === undefined) return;
    const { step, value } = found.point;
    const run = chart.lines[found.line]!.run;
    mark.setAttribute("class", `mark c${strokeOf(run).color}`);
    mark.setAttribute("cx", String(scale.x(step)));
    mark.setAttribute("cy", String(scale.y(value)));
    picture.append(mark);
    reading.textContent = `${shortNumber(value)} at step ${shortNumber(step)} · ${runs[run]!.name}`;
  };
  const rest = (): void => {
    mark.remove();
    reading.textContent = usual;
  };
  place.addEventListener("pointermove", read);
  place.addEventListener("pointerdown", read);
  place.addEventListener("pointerleave", rest);

  const draw = (): void => {
    const width = Math.max(200, place.clientWidth);
    const picture = svg("svg", {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": label,
    });
    scale = drawAxes(picture, extent, width);
    for (const { run, points } of chart.lines) {
      const { color, dash } = strokeOf(run);
      const { line, dots } = pathsOf(points, scale);
      const look = { class: `line c${color}`, "data-run": run };
      picture.append(
        svg("path", { ...look, d: line, "stroke-dasharray": dash }),
        svg("path", { ...look, d: dots, class: `line dots c${color}` }),
      );
    }
    place.replaceChildren(picture);
  };
  return { element, draw };
}

/** Draws grid and labels, and returns the scale that they use. */
function drawAxes(picture: SVGElement, extent: Extent, width: number): Scale {
  const { steps, values } = extent;
  const bottom = HEIGHT - MARGIN.bottom;
  const rowsWanted = Math.floor((bottom - MARGIN.top) / ROWS_APART);
  const height = roundRange(values, roundTicks(values, rowsWanted));
  const rows = roundTicks(height, rowsWanted);
  const rowLabels = tickLabels(rows);
  const left = Math.max(30, 10 + CHARACTER_PIXELS * Math.max(...rowLabels.map((text) => text.length)));
  const right = width - MARGIN.right;
  const columns = ticksWithin(steps, right - left);
  const scale: Scale = {
    x: (step) => left + (right - left) * shareOf(step, steps),
    y: (value) => bottom - (bottom - MARGIN.top) * shareOf(value, height),
  };
  rows.values.forEach((value, i) => {
    const y = scale.y(value);
    picture.append(
      svg("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }),
      svg("text", { class: "label", x: left - 6, y: y + 4, "text-anchor": "end" }, rowLabels[i]!),
    );
  });
  picture.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom + 4, y2: bottom + 4 }));
  columns.values.forEach((step, i) => {
    const x = scale.x(step);
    const label = columns.labels[i]!;
    const half = (CHARACTER_PIXELS * label.length) / 2;
    picture.append(
      svg("line", { class: "axis", x1: x, x2: x, y1: bottom + 4, y2: bottom + 8 }),
      svg("text", { class: "label", x: Math.min(x, width - half), y: HEIGHT - 4, "text-anchor": "middle" }, label),
    );
  });
  return scale;
}
