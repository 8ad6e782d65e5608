import { useMemo, useRef, useState } from "preact/hooks";
import { lineInk } from "../look/run-look.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { pointAt, scatterScene, type PlottedRun } from "../scene/scatter-scene.ts";
import { absoluteTime } from "../../ui/words.ts";
import { useWidth } from "../../ui/use-width.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { Stage } from "./stage.tsx";

/** A run with what columns have of it. */
export type ScatterRun = Omit<PlottedRun, "color">;

/** Runs by two of their columns, colored by the run or by a third column. Arrow keys go from run to run in the order of x; Enter and a press open one. */
export function Scatter({
  xLabel,
  yLabel,
  byLabel,
  runs,
  xLog = false,
  yLog = false,
  xKind = "number",
  best,
  title = `${yLabel} by ${xLabel}`,
  height = 320,
  highlight,
  onHighlight,
  onOpen,
}: {
  readonly xLabel: string;
  readonly yLabel: string;
  readonly byLabel?: string | undefined;
  readonly runs: readonly ScatterRun[];
  readonly xLog?: boolean;
  readonly yLog?: boolean;
  /** `clock`: x is a time in milliseconds. */
  readonly xKind?: "number" | "clock";
  /** Draws the best y so far, from left to right. */
  readonly best?: "min" | "max" | undefined;
  readonly title?: string;
  readonly height?: number;
  readonly highlight?: string | undefined;
  readonly onHighlight?: (id: string | undefined) => void;
  readonly onOpen?: (id: string) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [pointed, setPointed] = useState<string | undefined>(undefined);
  const one = pointed ?? highlight;
  const xWords = xKind === "clock" ? absoluteTime : shortNumber;
  const colored = runs.map((run): PlottedRun => ({ ...run, color: lineInk(run.id, inks.theme) }));
  const drawn = useMemo(
    () =>
      width === 0
        ? undefined
        : scatterScene(colored, { xLabel, yLabel, xLog, yLog, byLabel, xKind, best }, { width, height }, inks, one),
    [
      runs,
      colored.map(({ color }) => color).join(),
      xLabel,
      yLabel,
      xLog,
      yLog,
      byLabel,
      xKind,
      best,
      width,
      height,
      inks,
      one,
    ],
  );
  const point = (id: string | undefined): void => {
    setPointed(id);
    onHighlight?.(id);
  };
  const run = runs.find(({ id }) => id === pointed);
  const announced =
    run === undefined
      ? ""
      : `${run.name}: ${xLabel} ${xWords(run.x!)}, ${yLabel} ${shortNumber(run.y!)}${typeof run.by === "number" && byLabel !== undefined ? `, ${byLabel} ${shortNumber(run.by)}` : ""}`;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && pointed !== undefined) onOpen?.(pointed);
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0 || drawn === undefined) return;
    event.preventDefault();
    const order = drawn.points.toSorted((a, b) => a.left - b.left || a.top - b.top);
    const at = order.findIndex(({ run: { id } }) => id === pointed);
    point(order[Math.min(Math.max(0, at + by), order.length - 1)]!.run.id);
  };
  const summary =
    drawn === undefined
      ? `${title}: no run has both values`
      : `${title}: ${counted(drawn.points.length, "run")}, ${xLabel} ${drawn.x.domain.map(xWords).join(" to ")}, ${yLabel} ${drawn.y.domain.map(shortNumber).join(" to ")}. Arrow keys go from run to run.`;
  return (
    <Stage
      place={place}
      title={title}
      summary={summary}
      scene={drawn?.scene}
      height={height}
      announced={announced}
      notes={drawn?.notes ?? []}
      legend={drawn?.legend}
      onPoint={(left, top) => point(drawn === undefined ? undefined : pointAt(drawn, left, top)?.id)}
      onPress={(left, top) => {
        const found = drawn === undefined ? undefined : pointAt(drawn, left, top);
        if (found !== undefined) onOpen?.(found.id);
      }}
      onLeave={() => point(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}
