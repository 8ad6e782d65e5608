import { useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../ui/use-width.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { Legend } from "../view/legend.tsx";
import { curvePointAt, curveScene, type PointedCurve } from "./curve-scene.ts";
import { areaBelow, CURVE_NAMES, curvesSheet, type CurveKind, type NamedCurve } from "./curves.ts";
import { Figure } from "./figure.tsx";

/** ROC or precision-recall curves of several runs, with the area below each in the legend. Left and right go along a curve, up and down to another one. */
export function CurveChart({
  kind,
  title,
  curves,
  height = 300,
}: {
  readonly kind: CurveKind;
  readonly title: string;
  readonly curves: readonly NamedCurve[];
  readonly height?: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [pointed, setPointed] = useState<PointedCurve | undefined>(undefined);
  const drawn = useMemo(
    () => (width === 0 || curves.length === 0 ? undefined : curveScene(kind, curves, { width, height }, inks, pointed)),
    [kind, curves, width, height, inks, pointed],
  );
  const { area, x, y } = CURVE_NAMES[kind];
  const areas = useMemo(() => curves.map(({ points }) => areaBelow(kind, points)), [kind, curves]);
  const legend = curves.map(({ id, name, color, dash }, i) => ({
    id,
    name: `${name}, ${area} ${areas[i]!.toFixed(3)}`,
    color,
    dash,
  }));
  const onKeyDown = (event: KeyboardEvent): void => {
    const along = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const across = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") setPointed(undefined);
    else if (along !== 0 || across !== 0) setPointed(movedPoint(curves, pointed, along, across));
    else return;
    event.preventDefault();
  };
  const curve = pointed === undefined ? undefined : curves[pointed.curve];
  const point = curve?.points[pointed!.point];
  const announced =
    curve === undefined || point === undefined
      ? ""
      : `${curve.name}: ${x} ${shortNumber(point.x)}, ${y} ${shortNumber(point.y)}${point.threshold === undefined ? "" : `, threshold ${shortNumber(point.threshold)}`}`;
  return (
    <div class="tm-curves">
      <Figure
        place={place}
        title={title}
        summary={`${title}: ${counted(curves.length, "curve")}${legend.map(({ name }) => `; ${name}`).join("")}. Left and right go along a curve, up and down to another one.`}
        scene={drawn?.scene}
        sheet={curvesSheet(kind, curves)}
        height={height}
        announced={announced}
        onPoint={(left, top) => setPointed(drawn === undefined ? undefined : curvePointAt(drawn, curves, left, top))}
        onLeave={() => setPointed(undefined)}
        onKeyDown={onKeyDown}
      />
      <Legend
        lines={legend}
        label="Curves"
        onHighlight={(id) => {
          const at = curves.findIndex((one) => one.id === id);
          setPointed(at < 0 ? undefined : { curve: at, point: -1 });
        }}
      />
    </div>
  );
}

function movedPoint(
  curves: readonly NamedCurve[],
  before: PointedCurve | undefined,
  along: number,
  across: number,
): PointedCurve | undefined {
  if (curves.length === 0) return undefined;
  const within = (at: number, count: number): number => Math.min(Math.max(0, at), count - 1);
  if (before === undefined) return { curve: 0, point: 0 };
  const curve = within(before.curve + across, curves.length);
  return { curve, point: within(before.point + along, curves[curve]!.points.length) };
}
