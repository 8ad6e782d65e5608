import { signal } from "@preact/signals";
import type { RefObject } from "preact";
import { attempt } from "../../ui/fault.ts";
import type { MenuItem } from "../../ui/menu.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import type { Line } from "../scene/line-model.ts";
import type { ChartState } from "../state/chart-state.ts";
import { axisLabel, axisName } from "./axis-names.ts";
import type { PictureKind } from "./downloads.ts";

/** Whether saved pictures of line charts have no ground, for slides of any color; else they are on white paper. */
const isTransparent = signal(false);

/** What draws files is loaded with the first. */
const downloads = () => import("./downloads.ts");

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
      if (input === undefined) return;
      const words = { title: name, xLabel: axisLabel(state, input.axes.offsetMinutes), yLabel: name };
      void attempt(async () => (await downloads()).downloadLines(input, words, kind, isTransparent.peek()));
    },
  });
  return [
    {
      label: "Download CSV",
      icon: "download",
      disabled,
      onSelect: () => {
        const drawn = handle.current?.drawn();
        if (drawn === undefined) return;
        void attempt(async () => (await downloads()).downloadCsv(lines!, drawn, name, axisName(state)));
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
