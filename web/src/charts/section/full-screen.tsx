import { useRef } from "preact/hooks";
import type { ChartHandle } from "../line-chart.tsx";
import { keysOf, titleOf, type ChartContext, type ShownChart } from "./chart-context.ts";
import { FullChart } from "./full-chart.tsx";
import { bucketsOf, useLines } from "./use-lines.ts";

/** A chart that has the window to itself. */
export function FullScreen({
  context,
  chart,
  onClose,
}: {
  readonly context: ChartContext;
  readonly chart: ShownChart;
  readonly onClose: () => void;
}) {
  const handle = useRef<ChartHandle | undefined>(undefined);
  const data = useLines(context, keysOf(chart), bucketsOf(innerWidth), true);
  return <FullChart context={context} title={titleOf(chart)} data={data} handle={handle} onClose={onClose} />;
}
