import type { RefObject } from "preact";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { LineChart, type ChartHandle } from "../line-chart.tsx";
import type { Axes } from "../scene/line-model.ts";
import type { XAxis } from "../series/series.ts";
import type { ChartContext } from "./types.ts";
import type { ChartLines } from "./use-lines.ts";
import { LineLegend } from "./line-legend.tsx";
import { TableTwin } from "./table-twin.tsx";

/** How the axis of a choice is drawn. */
function axesOf({ state }: Pick<ChartContext, "state">): Axes {
  const { x, xLog, yLog, ignoreOutliers, zoom, group } = state;
  const of: XAxis = group === undefined ? x : "step";
  const label = of.startsWith("metric:") ? of.slice("metric:".length) : undefined;
  const kind = of === "relative" ? "duration" : of === "time" ? "clock" : "number";
  return {
    x: { kind, log: xLog && kind !== "clock", ...(label === undefined ? {} : { label }) },
    y: { log: yLog, ignoreOutliers },
    zoomX: zoom,
    offsetMinutes: -new Date().getTimezoneOffset(),
  };
}

/** The chart of a key, or its table, or what there is instead. */
export function ChartBody({
  context,
  title,
  data,
  height,
  asTable,
  handle,
}: {
  readonly context: ChartContext;
  readonly title: string;
  readonly data: ChartLines;
  readonly height: number;
  readonly asTable: boolean;
  readonly handle: RefObject<ChartHandle | undefined>;
}) {
  const { lines, error, retry } = data;
  const { link, highlight, onHighlight, change } = context;
  if (error !== undefined && lines === undefined) return <ErrorNote error={error} onRetry={retry} />;
  if (lines === undefined)
    return (
      <div style={{ height: `${height}px` }}>
        <Skeleton height={`${height - 12}px`} />
      </div>
    );
  const axes = axesOf(context);
  if (asTable) return <TableTwin title={title} lines={lines} axes={axes} height={height} />;
  const chart = (
    <LineChart
      title={title}
      lines={lines}
      axes={axes}
      height={height}
      link={link}
      highlight={highlight}
      onHighlight={onHighlight}
      onZoomX={(zoom) => change({ zoom }, { replace: true })}
      handle={handle}
    />
  );
  if (context.state.group === undefined) return chart;
  return (
    <>
      {chart}
      <LineLegend lines={lines} onHighlight={onHighlight} />
    </>
  );
}
