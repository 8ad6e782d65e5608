import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { Swatch } from "../look/look-picker.tsx";
import { isInherited, type Axes, type Line } from "../scene/line-model.ts";
import type { LineScene } from "../scene/line-scene.ts";
import { NAME_MAX, shortName } from "../scene/names.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import type { ChartLink, Pointed } from "./chart-pointer.ts";
import {
  axisText,
  listed,
  nearestReading,
  notFiniteText,
  placeText,
  readingsAt,
  spreadText,
  type Reading,
} from "./readings.ts";
import { tipPlace } from "./tip-place.ts";

/** Lines that are listed; the others are counted. */
const LISTED_MAX = 8;

/** Characters of a name in a window of fewer pixels than this. */
const NAME_MAX_NARROW = 28;
const NARROW = 480;

/** Pixels around a point that its mark takes. */
const MARK = 6;

type TooltipProps = {
  readonly id: string;
  readonly link: ChartLink;
  readonly lines: readonly Line[];
  readonly drawn: LineScene;
  readonly axes: Axes;
  /** The plot that is pointed at. */
  readonly plot: RefObject<HTMLElement | null>;
  readonly onHighlight: ((id: string | undefined) => void) | undefined;
};

/**
 * Lists the values at the crosshair next to it, the nearest line first, then its neighbors from the highest to the lowest. Only in the chart that is
 * pointed at. Pinned, it takes the pointer, so that its text can be selected.
 */
export function Tooltip({ id, link, lines, drawn, axes, plot, onHighlight }: TooltipProps) {
  const pointed = link.pointed.value;
  if (pointed?.chart !== id) return null;
  const readings = readingsAt(lines, pointed.x, drawn.x, drawn.y);
  const nearest = nearestReading(readings, pointed.top);
  const shown = listed(readings, nearest, LISTED_MAX);
  const first = nearest ?? readings[0];
  return (
    <NextTo plot={plot} sides={sidesOf(pointed, drawn, first)} isPinned={pointed.pinned}>
      <p class="tm-chart-tip-x">
        {first === undefined ? axisText(axes, pointed.x) : placeText(axes, first)}
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
            <span class="tm-chart-tip-name" title={one.line.name}>
              {shortName(one.line.name, innerWidth < NARROW ? NAME_MAX_NARROW : NAME_MAX)}
            </span>
            <span class="tm-chart-tip-value">{shortNumber(one.value)}</span>
            <span class="tm-chart-tip-spread">{spreadText(one)}</span>
            <NotFinite text={notFiniteText(axes, one)} />
            {isInherited(one.line, one.place) && (
              <small class="tm-chart-tip-note">{`Part of its parent, forked at step ${shortNumber(one.line.forkStep!)}`}</small>
            )}
          </li>
        ))}
      </ul>
      {readings.length > shown.length && (
        <p class="tm-chart-tip-more">{counted(readings.length - shown.length, "more line")}</p>
      )}
    </NextTo>
  );
}

function NotFinite({ text }: { readonly text: string }) {
  return text === "" ? null : <small class="tm-chart-tip-note">{text}</small>;
}

/** The crosshair where the pointer is, and the mark of the point that is read first, in pixels of the plot. */
function sidesOf({ x, top }: Pointed, { x: scale, scene }: LineScene, first: Reading | undefined) {
  const crosshair = scale.toPixel(x);
  const middle = scene.plot.top + scene.plot.height / 2;
  const point = first !== undefined && Number.isFinite(first.top) ? first : { left: crosshair, top: top ?? middle };
  const at = top ?? point.top;
  return {
    left: Math.min(crosshair, point.left) - MARK,
    right: Math.max(crosshair, point.left) + MARK,
    top: Math.min(at, point.top) - MARK,
    bottom: Math.max(at, point.top) + MARK,
  };
}

/** A box above everything else in the window, next to a part of the plot, which it follows when the page scrolls. */
function NextTo({
  plot,
  sides,
  isPinned,
  children,
}: {
  readonly plot: RefObject<HTMLElement | null>;
  readonly sides: ReturnType<typeof sidesOf>;
  readonly isPinned: boolean;
  readonly children: ComponentChildren;
}) {
  const box = useRef<HTMLDivElement>(null);
  const place = useRef(() => {});
  place.current = () => {
    const element = box.current;
    const around = plot.current?.getBoundingClientRect();
    if (element === null || around === undefined) return;
    const pointed = {
      left: around.left + sides.left,
      right: around.left + sides.right,
      top: around.top + sides.top,
      bottom: around.top + sides.bottom,
    };
    const { left, top } = tipPlace(pointed, element.getBoundingClientRect(), {
      width: innerWidth,
      height: innerHeight,
    });
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
    element.style.visibility = pointed.bottom < 0 || pointed.top > innerHeight ? "hidden" : "visible";
  };
  useLayoutEffect(() => {
    if (box.current?.matches(":popover-open") === false) box.current.showPopover();
    place.current();
  });
  useEffect(() => {
    const again = (): void => place.current();
    addEventListener("scroll", again, { capture: true, passive: true });
    return () => removeEventListener("scroll", again, { capture: true });
  }, []);
  return (
    <div ref={box} popover="manual" class={`tm-chart-tip${isPinned ? " is-pinned" : ""}`}>
      {children}
    </div>
  );
}
