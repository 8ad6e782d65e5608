import type { RefObject } from "preact";
import { ErrorNote } from "../../ui/page-states.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { LineChart, type ChartHandle } from "../line-chart.tsx";
import type { Axes, Line } from "../scene/line-model.ts";
import { shortNumber } from "../scene/numbers.ts";
import { rowsOf } from "../scene/table-rows.ts";
import { axisText } from "../view/readings.ts";
import { Legend } from "../view/legend.tsx";
import { axisLabel } from "./axis-names.ts";
import type { ChartContext } from "./chart-context.ts";
import type { ChartLines } from "./use-lines.ts";

/** How the axis of a choice is drawn. */
function axesOf({ state, rangeY }: Pick<ChartContext, "state" | "rangeY">): Axes {
  const { x, xLog, yLog, ignoreOutliers, zoom } = state;
  const label = x.startsWith("metric:") ? x.slice("metric:".length) : undefined;
  const kind = x === "relative" ? "duration" : x === "time" ? "clock" : x === "step" ? "step" : "number";
  return {
    x: { kind, log: xLog && kind !== "clock", ...(label === undefined ? {} : { label }) },
    y: { log: yLog, ignoreOutliers },
    zoomX: zoom,
    rangeY,
    offsetMinutes: -new Date().getTimezoneOffset(),
  };
}

/** Returns axes with their names. */
function named(axes: Axes, { state }: Pick<ChartContext, "state">, yLabel: string): Axes {
  return {
    ...axes,
    x: { ...axes.x, label: axisLabel(state, axes.offsetMinutes) },
    y: { ...axes.y, label: yLabel },
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
  isFull = false,
}: {
  readonly context: ChartContext;
  readonly title: string;
  readonly data: ChartLines;
  readonly height: number;
  readonly asTable: boolean;
  readonly handle: RefObject<ChartHandle | undefined>;
  /** It has the window to itself: its axes have names, and its lines are named next to it. */
  readonly isFull?: boolean;
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
  const axes = isFull ? named(axesOf(context), context, title) : axesOf(context);
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
  if (isFull || data.legend.length === 0) return chart;
  return (
    <>
      {chart}
      <Legend
        lines={data.legend}
        label={context.state.group === undefined ? "Lines" : "Groups"}
        most={LISTED_MAX}
        onHighlight={onHighlight}
      />
    </>
  );
}

/** Entries that are listed below a chart; the others are named when pointed at. */
const LISTED_MAX = 12;

/** The same values as a chart, as a table: a row for each of some places of the axis, a column for each line. */
function TableTwin({
  title,
  lines,
  axes,
  height,
}: {
  readonly title: string;
  readonly lines: readonly Line[];
  readonly axes: Axes;
  readonly height: number;
}) {
  const { shown, rows, left } = rowsOf(lines, axes.zoomX);
  return (
    <div
      class="tm-chart-table"
      style={{ height: `${height}px` }}
      tabIndex={0}
      role="region"
      aria-label={`Values of ${title}`}
    >
      <table>
        <caption class="tm-chart-hidden">{title}</caption>
        <thead>
          <tr>
            <th scope="col">{axes.x.kind === "step" ? "Step" : (axes.x.label ?? "Time")}</th>
            {shown.map(({ id, name }) => (
              <th key={id} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ x, values }) => (
            <tr key={x}>
              <th scope="row">
                {axes.x.kind === "step" || axes.x.kind === "number" ? shortNumber(x) : axisText(axes, x)}
              </th>
              {values.map((value, i) => (
                <td key={shown[i]!.id}>{value ?? ""}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left !== "" && <p>{left}</p>}
    </div>
  );
}
