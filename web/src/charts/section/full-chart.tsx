import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Menu } from "../../ui/menu.tsx";
import { Spinner } from "../../ui/spinner.tsx";
import { useHeight } from "../../ui/use-width.ts";
import type { ChartHandle } from "../line-chart.tsx";
import { Legend } from "../view/legend.tsx";
import { ChartBody } from "./chart-body.tsx";
import type { ChartContext } from "./chart-context.ts";
import { AxisControls } from "./controls.tsx";
import { FinerFault } from "./finer-fault.tsx";
import { saveItems } from "./save-items.ts";
import type { ChartLines } from "./use-lines.ts";

/** Pixels below the plot for notes. */
const NOTES = 24;
const HEIGHT_MIN = 200;

/** A chart in the whole window: its controls above it, the names of its lines next to it, or below it in a narrow window. */
export function FullChart({
  context,
  title,
  data,
  handle,
  onClose,
}: {
  readonly context: ChartContext;
  readonly title: string;
  readonly data: ChartLines;
  readonly handle: RefObject<ChartHandle | undefined>;
  readonly onClose: () => void;
}) {
  const place = useRef<HTMLDivElement>(null);
  const height = useHeight(place);
  const [asTable, setAsTable] = useState(false);
  const lines = data.lines ?? [];
  return (
    <Dialog title={title} full onClose={onClose}>
      <div class="tm-chart-full" aria-busy={data.busy || undefined}>
        <div class="tm-chart-controls" role="group" aria-label="Chart">
          <AxisControls context={context} metricKeys={context.metricKeys} configKeys={context.configKeys} />
          <Button
            size="s"
            icon={asTable ? "chart" : "table"}
            aria-pressed={asTable}
            onClick={() => setAsTable(!asTable)}
          >
            Table
          </Button>
          <Menu
            label="Download"
            button={{ icon: "download", size: "s" }}
            items={saveItems(handle, title, asTable ? undefined : data.lines, context.state)}
          >
            Download
          </Menu>
          {data.busy && <Spinner />}
        </div>
        <div class="tm-chart-full-plot" ref={place}>
          {height > 0 && (
            <ChartBody
              context={context}
              title={title}
              data={data}
              height={Math.max(HEIGHT_MIN, height - NOTES)}
              asTable={asTable}
              handle={handle}
              isFull
            />
          )}
          <FinerFault data={data} />
        </div>
        <Legend
          lines={lines}
          label={context.state.group === undefined ? "Runs" : "Groups"}
          onHighlight={context.onHighlight}
        />
      </div>
    </Dialog>
  );
}
