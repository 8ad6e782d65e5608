import type { RefObject } from "preact";
import type { MenuItem } from "../../ui/menu.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import type { Line } from "../scene/line-model.ts";
import type { ChartState } from "../state/chart-state.ts";
import { downloadCsv, downloadPng, downloadSvg } from "./downloads.ts";

/** Returns the items of a menu that save what a chart shows; without lines nothing can be saved. */
export function saveItems(
  handle: RefObject<ChartHandle | undefined>,
  name: string,
  lines: readonly Line[] | undefined,
  state: ChartState,
): readonly MenuItem[] {
  const disabled = lines === undefined || lines.length === 0;
  const save = (write: (drawn: NonNullable<ReturnType<ChartHandle["drawn"]>>) => unknown) => (): void => {
    const drawn = handle.current?.drawn();
    if (drawn !== undefined) void write(drawn);
  };
  return [
    {
      label: "Download CSV",
      icon: "download",
      disabled,
      onSelect: save((drawn) => downloadCsv(lines!, drawn, name, axisName(state))),
    },
    { label: "Download PNG", icon: "image", disabled, onSelect: save(({ scene }) => downloadPng(scene, name)) },
    { label: "Download SVG", icon: "image", disabled, onSelect: save(({ scene }) => downloadSvg(scene, name)) },
  ];
}

/** The name of the horizontal axis in files. */
function axisName({ x }: ChartState): string {
  if (x === "step") return "step";
  return x === "relative" ? "seconds" : x === "time" ? "unix_ms" : x.slice("metric:".length);
}
