import { useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { counted } from "../scene/numbers.ts";
import { parallelScene, type Brushes, type ParallelColumn, type ParallelRun } from "../scene/parallel-scene.ts";
import { useWidth } from "../../ui/use-width.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { Stage } from "./stage.tsx";

/** How close to a column a brush begins, in pixels. */
const REACH = 24;

/** How far a key moves a brush, as a share of the column. */
const KEY_SHARE = 0.1;

/**
 * Runs over columns. Dragging along a column selects the runs that pass there; `onSelect` gets their ids, undefined for all. Keys do the same: left and
 * right choose a column, up and down move the lower end of the selection.
 */
export function ParallelCoordinates({
  title = "Runs by their columns",
  columns,
  runs,
  height = 340,
  onSelect,
}: {
  readonly title?: string;
  readonly columns: readonly ParallelColumn[];
  readonly runs: readonly ParallelRun[];
  readonly height?: number;
  readonly onSelect: (ids: readonly string[] | undefined) => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [brushes, setBrushes] = useState<Brushes>(new Map());
  const [column, setColumn] = useState(0);
  const brushStart = useRef<{ readonly name: string; readonly top: number } | undefined>(undefined);
  const drawn = useMemo(
    () => (width === 0 ? undefined : parallelScene(columns, runs, brushes, { width, height }, inks)),
    [columns, runs, brushes, width, height, inks],
  );
  const change = (next: Brushes, isDone: boolean): void => {
    setBrushes(next);
    if (isDone)
      onSelect(next.size === 0 ? undefined : parallelScene(columns, runs, next, { width, height }, inks).selected);
  };
  const onPress = (left: number, top: number): void => {
    const axis = drawn?.axes.find((one) => Math.abs(one.left - left) <= REACH);
    brushStart.current = axis === undefined ? undefined : { name: axis.name, top };
  };
  const onPoint = (_left: number, top: number): void => {
    if (brushStart.current === undefined || drawn === undefined) return;
    const { name, top: from } = brushStart.current;
    const axis = drawn.axes.find((one) => one.name === name)!;
    const ends = [from, top].map((end) => Math.min(Math.max(end, axis.top), axis.bottom)).toSorted((a, b) => a - b);
    const next = new Map(brushes);
    // A press without a drag takes the brush of the column away.
    if (ends[1]! - ends[0]! < 4) next.delete(name);
    else next.set(name, [ends[0]!, ends[1]!]);
    change(next, false);
  };
  const onRelease = (): void => {
    if (brushStart.current === undefined) return;
    brushStart.current = undefined;
    change(brushes, true);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const side = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const up = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (event.key === "Escape" && brushes.size > 0) change(new Map(), true);
    else if (side !== 0) setColumn(Math.min(Math.max(0, column + side), columns.length - 1));
    else if (up !== 0 && drawn?.axes[column] !== undefined) {
      const axis = drawn.axes[column];
      const [top, bottom] = brushes.get(axis.name) ?? [axis.top, axis.bottom];
      const moved = Math.min(axis.bottom, Math.max(top + 4, bottom - up * KEY_SHARE * (axis.bottom - axis.top)));
      const next = new Map(brushes);
      if (moved >= axis.bottom && top <= axis.top) next.delete(axis.name);
      else next.set(axis.name, [top, moved]);
      change(next, true);
    } else return;
    event.preventDefault();
  };
  const chosen = drawn === undefined || brushes.size === 0 ? "" : `${counted(drawn.selected.length, "run")} selected`;
  const name = columns[column]?.name ?? "";
  return (
    <Stage
      place={place}
      title={title}
      summary={`${title}: ${counted(runs.length, "run")} over ${columns.map((one) => one.name).join(", ")}. Left and right choose a column, now ${name}; up and down select its upper part.`}
      scene={columns.length === 0 || runs.length === 0 ? undefined : drawn?.scene}
      height={height}
      announced={chosen}
      legend={drawn?.legend}
      notes={["Drag along a column to select runs"]}
      onPress={onPress}
      onPoint={onPoint}
      onRelease={onRelease}
      onKeyDown={onKeyDown}
    >
      {brushes.size > 0 && (
        <Button kind="quiet" size="s" icon="reset" onClick={() => change(new Map(), true)}>
          Clear ranges
        </Button>
      )}
    </Stage>
  );
}
