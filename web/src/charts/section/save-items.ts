import type { RefObject } from "preact";
import type { MenuItem } from "../../ui/menu.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import type { Line } from "../scene/line-model.ts";
import type { ChartState } from "../state/chart-state.ts";
import { axisLabel, axisName } from "./axis-names.ts";
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
