import type { RefObject } from "preact";
import type { MenuItem } from "../../ui/menu.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import type { Line } from "../scene/line-model.ts";
import type { ChartState } from "../state/chart-state.ts";
import { downloadCsv, downloadLines, isTransparent, type PictureKind } from "./downloads.ts";

/** Returns the items of a menu that save what a chart shows; without lines nothing can be saved. */
export function saveItems(
  handle: RefObject<ChartHandle | undefined>,
  name: string,
  lines: readonly Line[] | undefined,
  state: ChartState,
): readonly MenuItem[] {
  const disabled = lines === undefined || lines.length === 0;
  const picture = (kind: PictureKind): MenuItem => ({
    label: `Download ${kind}`,
    icon: "image",
    disabled,
    onSelect: () => {
      const input = handle.current?.input();
      if (input !== undefined)
        downloadLines(input, { title: name, xLabel: axisLabel(state, input.axes.offsetMinutes), yLabel: name }, kind);
    },
  });
  return [
    {
      label: "Download CSV",
      icon: "download",
      disabled,
      onSelect: () => {
        const drawn = handle.current?.drawn();
        if (drawn !== undefined) downloadCsv(lines!, drawn, name, axisName(state));
      },
    },
    picture("PNG"),
    picture("SVG"),
    {
      label: "Transparent background",
      checked: isTransparent.value,
      disabled,
      onSelect: () => (isTransparent.value = !isTransparent.peek()),
    },
  ];
}

/** The name of the horizontal axis in files. */
function axisName({ x }: ChartState): string {
  if (x === "step") return "step";
  return x === "relative" ? "seconds" : x === "time" ? "unix_ms" : x.slice("metric:".length);
}

/** The name of the horizontal axis below it. */
export function axisLabel({ x }: Pick<ChartState, "x">, offsetMinutes = 0): string {
  if (x === "step") return "Step";
  if (x === "relative") return "Relative time";
  return x === "time" ? `Wall time (${zoneText(offsetMinutes)})` : x.slice("metric:".length);
}

/** Writes how far local time is ahead of UTC: `UTC+5:30`. */
function zoneText(minutes: number): string {
  if (minutes === 0) return "UTC";
  const size = Math.abs(minutes);
  const rest = size % 60;
  return `UTC${minutes < 0 ? "−" : "+"}${Math.floor(size / 60)}${rest === 0 ? "" : `:${String(rest).padStart(2, "0")}`}`;
}
