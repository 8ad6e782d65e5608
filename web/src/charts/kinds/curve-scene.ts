import { axesOf } from "../scene/axes-shapes.ts";
import type { Scale } from "../scene/scale.ts";
import type { Inks, Scene, Shape } from "../scene/scene.ts";
import { CURVE_NAMES, curvePath, type CurveKind, type NamedCurve } from "./curves.ts";

/** A picture of curves with the scales to point at them by. */
export type CurveScene = { readonly scene: Scene; readonly x: Scale; readonly y: Scale };

/** Which point of which curve is pointed at. */
export type PointedCurve = { readonly curve: number; readonly point: number };

/** Rates are from 0 to 1; a little more shows lines along the frame whole. */
const DOMAIN = [0, 1.02] as const;

/** Returns the picture of curves of one kind; that of ROC with the diagonal of a classifier that guesses. */
export function curveScene(
  kind: CurveKind,
  curves: readonly NamedCurve[],
  size: { readonly width: number; readonly height: number },
  inks: Inks,
  pointed?: PointedCurve,
): CurveScene {
  const { xLabel, yLabel } = CURVE_NAMES[kind];
  const axis = { domain: DOMAIN, log: false, kind: "number" } as const;
  const { x, y, plot, shapes } = axesOf(size, { ...axis, label: xLabel }, { ...axis, label: yLabel }, inks);
  const path = (points: readonly (readonly [number, number])[]): Float64Array =>
    Float64Array.from(points.flatMap(([left, top]) => [x.toPixel(left), y.toPixel(top)]));
  const chance: Shape[] =
    kind === "roc"
      ? [
          {
            kind: "path",
            points: path([
              [0, 0],
              [1, 1],
            ]),
            stroke: inks.faint,
            width: 1,
            dash: [3, 4],
            alpha: 1,
            label: "Chance",
          },
        ]
      : [];
  const lines = curves.map(({ id, name, color, dash, points }, i): Shape => ({
    kind: "path",
    points: path(curvePath(kind, points)),
    stroke: color,
    width: pointed?.curve === i ? 2.75 : 1.75,
    dash,
    alpha: pointed === undefined || pointed.curve === i ? 1 : 0.4,
    line: id,
    label: name,
  }));
  const one = pointed === undefined ? undefined : curves[pointed.curve]?.points[pointed.point];
  const mark: Shape[] =
    one === undefined
      ? []
      : [
          {
            kind: "dots",
            points: Float64Array.of(x.toPixel(one.x), y.toPixel(one.y)),
            fill: curves[pointed!.curve]!.color,
            radius: 4.5,
            alpha: 1,
          },
        ];
  const inside = [...chance, ...lines, ...mark];
  return { scene: { ...size, background: inks.surface, plot, around: shapes, inside }, x, y };
}

/** Returns the point of a curve that is nearest to a place in pixels, if it is close. */
export function curvePointAt(
  { x, y }: CurveScene,
  curves: readonly NamedCurve[],
  left: number,
  top: number,
  reach = 24,
): PointedCurve | undefined {
  let [found, least]: [PointedCurve | undefined, number] = [undefined, reach];
  for (const [curve, { points }] of curves.entries())
    for (const [point, one] of points.entries()) {
      const distance = Math.hypot(x.toPixel(one.x) - left, y.toPixel(one.y) - top);
      if (distance < least) [found, least] = [{ curve, point }, distance];
    }
  return found;
}
