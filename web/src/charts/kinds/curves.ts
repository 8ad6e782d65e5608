import type { Sheet } from "./sheet.ts";
import { PICTURE_COLUMNS } from "./table-columns.ts";

/** The kinds of curves of a classifier: true over false positive rate, and precision over recall. */
export type CurveKind = "roc" | "pr";

/** A point of a curve: false and true positive rate, or recall and precision; and the threshold of its scores, if it is known. */
export type CurvePoint = { readonly x: number; readonly y: number; readonly threshold?: number | undefined };

/** The names of the axes of a curve, as objects and tables have them. */
export const CURVE_NAMES = {
  roc: {
    x: PICTURE_COLUMNS.roc[0],
    y: PICTURE_COLUMNS.roc[1],
    xLabel: "False positive rate",
    yLabel: "True positive rate",
    area: "AUC",
  },
  pr: { x: PICTURE_COLUMNS.pr[0], y: PICTURE_COLUMNS.pr[1], xLabel: "Recall", yLabel: "Precision", area: "AP" },
} as const;

/** A curve of a class; without classes there is one. */
export type ClassCurve = { readonly className: string | undefined; readonly points: readonly CurvePoint[] };

/** Returns the curve in the value of an evaluation; undefined where it has none. */
export function curveOfEvaluation(kind: CurveKind, value: unknown): ClassCurve | undefined {
  const { [`${kind}_curve`]: curve, positive_label: label } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const points = Array.isArray(curve) ? pointsOf(kind, curve) : [];
  return points.length === 0 ? undefined : { className: typeof label === "string" ? label : undefined, points };
}

/** Returns the curves in the rows of a table with columns such as `fpr` and `tpr`: one, or one for each value of the column `class`. */
export function curvesOfRows(kind: CurveKind, rows: readonly Readonly<Record<string, unknown>>[]): ClassCurve[] {
  const byClass = Map.groupBy(rows, (row) => {
    const name = row["class"];
    return typeof name === "string" || typeof name === "number" || typeof name === "boolean" ? String(name) : undefined;
  });
  return [...byClass]
    .map(([className, own]) => ({ className, points: pointsOf(kind, own) }))
    .filter(({ points }) => points.length > 0);
}

function pointsOf(kind: CurveKind, rows: readonly unknown[]): CurvePoint[] {
  const names = CURVE_NAMES[kind];
  const found = rows.flatMap((row): CurvePoint[] => {
    if (typeof row !== "object" || row === null) return [];
    const { [names.x]: x, [names.y]: y, threshold } = row as Readonly<Record<string, unknown>>;
    if (!isRate(x) || !isRate(y)) return [];
    return [{ x, y, ...(typeof threshold === "number" ? { threshold } : {}) }];
  });
  return found.toSorted(kind === "roc" ? (a, b) => a.x - b.x || a.y - b.y : (a, b) => a.x - b.x || b.y - a.y);
}

const isRate = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;

/**
 * Returns the area below a curve whose points ascend as `curveOfEvaluation` returns them. ROC: by the trapezoidal rule, from (0, 0) to (1, 1), which
 * every classifier reaches at its extreme thresholds. PR: the average precision Σ (Rₙ − Rₙ₋₁) Pₙ, which does not interpolate between points.
 */
export function areaBelow(kind: CurveKind, points: readonly CurvePoint[]): number {
  let area = 0;
  if (kind === "pr") {
    let recall = 0;
    for (const { x, y } of points) {
      area += (x - recall) * y;
      recall = x;
    }
    return area;
  }
  let before: CurvePoint = { x: 0, y: 0 };
  for (const point of [...points, { x: 1, y: 1 }]) {
    area += ((point.x - before.x) * (point.y + before.y)) / 2;
    before = point;
  }
  return area;
}

/** Returns the path that a curve is drawn as, pairs x, y, whose area is that of `areaBelow`: straight lines for ROC, for PR a step before each point. */
export function curvePath(kind: CurveKind, points: readonly CurvePoint[]): readonly (readonly [number, number])[] {
  if (kind === "roc") return [[0, 0], ...points.map(({ x, y }) => [x, y] as const), [1, 1]];
  let recall = 0;
  return points.flatMap(({ x, y }) => {
    const step = [[recall, y] as const, [x, y] as const];
    recall = x;
    return step;
  });
}

/** A curve with a name and a look. */
export type NamedCurve = {
  readonly id: string;
  readonly name: string;
  readonly color: string;
  readonly dash: readonly number[];
  readonly points: readonly CurvePoint[];
};

/** Returns the points of curves as a table. */
export function curvesSheet(kind: CurveKind, curves: readonly NamedCurve[]): Sheet {
  const { x, y } = CURVE_NAMES[kind];
  const hasThreshold = curves.some(({ points }) => points.some(({ threshold }) => threshold !== undefined));
  return {
    head: ["name", x, y, ...(hasThreshold ? ["threshold"] : [])],
    rows: curves.flatMap(({ name, points }) =>
      points.map((point) => [name, point.x, point.y, ...(hasThreshold ? [point.threshold] : [])]),
    ),
  };
}
