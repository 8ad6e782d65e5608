import { useRef } from "preact/hooks";
import { Dialog } from "../../ui/dialog.tsx";
import type { ChartHandle } from "../line-chart.tsx";
import { ChartBody } from "./chart-body.tsx";
import { keysOf, titleOf, type ChartContext, type ShownChart } from "./chart-context.ts";
import { FinerFault } from "./finer-fault.tsx";
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
  const data = useLines(context, keysOf(chart), bucketsOf(innerWidth - 100), true);
  return (
    <Dialog title={titleOf(chart)} wide onClose={onClose}>
      <div class="tm-chart-full">
        <ChartBody
          context={context}
          title={titleOf(chart)}
          data={data}
          height={Math.max(240, Math.min(innerHeight - 180, 900))}
          asTable={false}
          handle={handle}
        />
        <FinerFault data={data} />
      </div>
    </Dialog>
  );
}
