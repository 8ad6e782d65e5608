import { Swatch } from "../look/look-picker.tsx";
import { isInherited, type Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import type { ChartLink } from "./chart-pointer.ts";
import { listed, nearestReading, readingsAt } from "./readings.ts";

/** Lines of a tooltip. */
const LISTED_MAX = 12;

type TooltipProps = {
  readonly id: string;
  readonly link: ChartLink;
  readonly lines: readonly Line[];
  readonly drawn: LineScene;
  readonly width: number;
  readonly axisText: (x: number) => string;
  readonly onHighlight: ((id: string | undefined) => void) | undefined;
};

/** Lists the values at the crosshair, the highest first, next to it. Only in the chart that is pointed at. */
export function Tooltip({ id, link, lines, drawn, width, axisText, onHighlight }: TooltipProps) {
  const pointed = link.pointed.value;
  if (pointed?.chart !== id) return null;
  const readings = readingsAt(lines, pointed.x, drawn.x, drawn.y);
  const nearest = nearestReading(readings, pointed.top);
  const shown = listed(readings, nearest, LISTED_MAX);
  const left = drawn.x.toPixel(pointed.x);
  const isRight = left > width / 2;
  return (
    <div
      class={`tm-chart-tip${pointed.pinned ? " is-pinned" : ""}`}
      style={isRight ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }}
    >
      <p class="tm-chart-tip-x">
        {axisText((nearest ?? readings[0])?.x ?? pointed.x)}
        {pointed.pinned && (
          <button
            type="button"
            class="tm-chart-tip-close"
            aria-label="Close values"
            onClick={() => {
              link.pointed.value = undefined;
            }}
          >
            ×
          </button>
        )}
      </p>
      <ul>
        {shown.map((one) => (
          <li
            key={one.line.id}
            class={one === nearest ? "is-nearest" : ""}
            onPointerEnter={() => onHighlight?.(one.line.id)}
            onPointerLeave={() => onHighlight?.(undefined)}
          >
            <Swatch color={one.line.color} dash={one.line.dash} />
            <span class="tm-chart-tip-name">
              {one.line.name}
              {isInherited(one.line, one.place) && (
                <small class="tm-chart-tip-fork">{`Part of its parent, forked at step ${shortNumber(one.line.forkStep!)}`}</small>
              )}
            </span>
            <span class="tm-chart-tip-value">{valueText(one.line, one.place, one.value)}</span>
          </li>
        ))}
      </ul>
      {readings.length > shown.length && (
        <p class="tm-chart-tip-more">{counted(readings.length - shown.length, "more line")}</p>
      )}
    </div>
  );
}

/** The value, and of a bucket how far its points reach. */
function valueText({ low, high, count }: Line, place: number, value: number): string {
  const [least, most] = [low?.[place], high?.[place]];
  if (least === undefined || most === undefined || least === most || (count?.[place] ?? 2) < 2)
    return shortNumber(value);
  return `${shortNumber(value)} (${shortNumber(least)} to ${shortNumber(most)})`;
}
