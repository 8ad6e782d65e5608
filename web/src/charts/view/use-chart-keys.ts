import { useRef, useState } from "preact/hooks";
import { isInherited, stepAt } from "../scene/line-model.ts";
import { shortNumber } from "../scene/numbers.ts";
import { notFiniteText, readingsAt } from "./readings.ts";
import { zoomedAround, type ChartParts } from "./chart-pointer.ts";

/** Points that Page up and Page down, or an arrow with shift, go over. */
const FAR = 10;

/** Runs that are announced at a time. */
const SAID_MAX = 8;

/** Lets keys move the crosshair from point to point and announces the values there; `+` and `-` zoom, `0` shows all, Escape ends it. */
export function useChartKeys({ id, link, latest, onZoomX, setZoomY }: ChartParts): {
  readonly announced: string;
  readonly onKeyDown: (event: KeyboardEvent) => void;
} {
  const [announced, setAnnounced] = useState("");
  const here = useRef<number | undefined>(undefined);
  const onKeyDown = (event: KeyboardEvent): void => {
    const { drawn, lines, axes } = latest.current;
    if (drawn === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const { x, y } = drawn;
    const far = event.shiftKey ? FAR : 1;
    const moves: Readonly<Record<string, number>> = {
      ArrowLeft: -far,
      ArrowRight: far,
      PageUp: -FAR,
      PageDown: FAR,
      Home: -Infinity,
      End: Infinity,
    };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      const places = placesIn(lines, x.domain);
      if (places.length === 0) return;
      const now =
        here.current === undefined
          ? move > 0
            ? -1
            : places.length
          : places.findLastIndex((place) => place <= here.current!);
      const next = places[Math.min(Math.max(0, now + move), places.length - 1)]!;
      here.current = next;
      link.pointed.value = { x: next, top: undefined, chart: id, pinned: true };
      const readings = readingsAt(lines, next, x, y);
      const read = readings.find((one) => one.x === next);
      const at = read === undefined || axes.x.kind !== "step" ? next : stepAt(read.line, read.place);
      const values = readings.slice(0, SAID_MAX).map((one) => {
        const { line, place, value } = one;
        const notes = [
          notFiniteText(axes, one),
          isInherited(line, place) ? `part of its parent, forked at step ${shortNumber(line.forkStep!)}` : "",
        ].filter((note) => note !== "");
        return `${line.name} ${shortNumber(value)}${notes.length === 0 ? "" : ` (${notes.join("; ")})`}`;
      });
      const more = readings.length > SAID_MAX ? `, and ${readings.length - SAID_MAX} more` : "";
      setAnnounced(`At ${shortNumber(at)}: ${values.join(", ")}${more}`);
      return;
    }
    const pixel = x.toPixel(here.current ?? x.toValue((x.pixels[0] + x.pixels[1]) / 2));
    if (event.key === "+" || event.key === "=") onZoomX?.(zoomedAround(x, pixel, 0.5));
    else if (event.key === "-") onZoomX?.(zoomedAround(x, pixel, 2));
    else if (event.key === "0") {
      setZoomY(undefined);
      onZoomX?.(undefined);
    } else if (event.key === "Escape" && link.pointed.peek() !== undefined) {
      event.stopPropagation();
      link.pointed.value = undefined;
      here.current = undefined;
    } else return;
    event.preventDefault();
  };
  return { announced, onKeyDown };
}

/** The places of the line that has most points in view. */
function placesIn(
  lines: readonly { readonly x: Float64Array }[],
  [low, high]: readonly [number, number],
): readonly number[] {
  const within = lines.map(({ x }) => x.filter((at) => at >= low && at <= high));
  return [...(within.toSorted((a, b) => b.length - a.length)[0] ?? [])];
}
