/** A line of a plot: its points in ascending order of x. */
export type PlotLine = { readonly name: string; readonly points: readonly (readonly [x: number, y: number])[] };

/** One plot with logarithmic axes. */
export type Plot = {
  readonly title: string;
  readonly xLabel: string;
  readonly yLabel: string;
  readonly lines: readonly PlotLine[];
};

/** Decades that hold all values: powers of ten, the first at most the smallest value and the last at least the greatest. */
export function decadesOf(values: readonly number[]): { readonly from: number; readonly to: number } {
  const positive = values.filter((value) => value > 0);
  if (positive.length === 0) return { from: 0, to: 1 };
  const from = Math.floor(Math.log10(Math.min(...positive)) + 1e-9);
  const to = Math.ceil(Math.log10(Math.max(...positive)) - 1e-9);
  return { from, to: Math.max(to, from + 1) };
}

/** Where a value lies between two decades, 0 to 1. */
export function logPlace(value: number, { from, to }: { readonly from: number; readonly to: number }): number {
  return (Math.log10(value) - from) / (to - from);
}

/** A power of ten for an axis. */
export function decadeLabel(exponent: number): string {
  const units = ["", "k", "M", "G"] as const;
  if (exponent < 0) return (10 ** exponent).toFixed(-exponent);
  const unit = units[Math.floor(exponent / 3)];
  return unit === undefined ? `1e${exponent}` : `${10 ** (exponent % 3)}${unit}`;
}

const WIDTH = 760;
const HEIGHT = 300;
const LEFT = 70;
const RIGHT = 190;
const TOP = 34;
const BOTTOM = 50;

// Readable on white and on black alike; the text follows the reader's color scheme.
const colors = ["#2f81f7", "#d29922", "#3fb950", "#f778ba", "#a371f7"] as const;

const STYLE = `<style>
  text { font: 12px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 14px; font-weight: 600 }
  .grid { stroke: #8c959f; stroke-opacity: 0.35; fill: none }
  .line { fill: none; stroke-width: 2 }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>`;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** A label that lies over another one moves down. */
function labelPlaces(wanted: readonly number[]): number[] {
  const order = wanted.map((_y, index) => index).toSorted((a, b) => wanted[a]! - wanted[b]!);
  const places: number[] = [];
  let free = Number.NEGATIVE_INFINITY;
  for (const index of order) {
    places[index] = Math.max(wanted[index]!, free);
    free = places[index] + 15;
  }
  return places;
}

function drawPlot({ title, xLabel, yLabel, lines }: Plot, top: number): string {
  const xs = decadesOf(lines.flatMap(({ points }) => points.map(([x]) => x)));
  const ys = decadesOf(lines.flatMap(({ points }) => points.map(([, y]) => y)));
  const right = WIDTH - RIGHT;
  const bottom = top + HEIGHT - BOTTOM;
  const ceiling = top + TOP;
  const x = (value: number): number => LEFT + logPlace(value, xs) * (right - LEFT);
  const y = (value: number): number => bottom - logPlace(value, ys) * (bottom - ceiling);
  const parts = [
    `<text class="title" x="${LEFT}" y="${top + 18}">${escaped(title)}</text>`,
    `<text x="${(LEFT + right) / 2}" y="${bottom + 38}" text-anchor="middle">${escaped(xLabel)}</text>`,
    `<text transform="translate(16 ${(ceiling + bottom) / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text>`,
  ];
  for (let at = xs.from; at <= xs.to; at += 1) {
    const place = x(10 ** at).toFixed(1);
    parts.push(`<path class="grid" d="M${place} ${ceiling}V${bottom}"/>`);
    parts.push(`<text x="${place}" y="${bottom + 18}" text-anchor="middle">${decadeLabel(at)}</text>`);
  }
  for (let at = ys.from; at <= ys.to; at += 1) {
    const place = y(10 ** at).toFixed(1);
    parts.push(`<path class="grid" d="M${LEFT} ${place}H${right}"/>`);
    parts.push(`<text x="${LEFT - 8}" y="${Number(place) + 4}" text-anchor="end">${decadeLabel(at)}</text>`);
  }
  const drawn = lines.filter(({ points }) => points.length > 0);
  const labels = labelPlaces(drawn.map(({ points }) => y(points.at(-1)![1]) + 4));
  for (const [index, { name, points }] of drawn.entries()) {
    const color = colors[index % colors.length]!;
    const path = points.map(([px, py]) => `${x(px).toFixed(1)} ${y(py).toFixed(1)}`).join("L");
    parts.push(`<path class="line" stroke="${color}" d="M${path}"/>`);
    for (const [px, py] of points) {
      parts.push(`<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3" fill="${color}"/>`);
    }
    const place = labels[index]!.toFixed(1);
    parts.push(`<circle cx="${right + 12}" cy="${(Number(place) - 4).toFixed(1)}" r="4" fill="${color}"/>`);
    parts.push(`<text x="${right + 22}" y="${place}">${escaped(name)}</text>`);
  }
  return parts.join("\n");
}

/** Plots below each other as one SVG document that reads well on light and dark ground. Values that are not above 0 must not occur. */
export function svgOf(plots: readonly Plot[]): string {
  const height = plots.length * HEIGHT;
  const name = escaped(plots.map(({ title }) => title).join("; "));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${name.replaceAll('"', "&quot;")}">`,
    STYLE,
    ...plots.map((plot, index) => drawPlot(plot, index * HEIGHT)),
    "</svg>",
    "",
  ].join("\n");
}
