import { rowsOf } from "../scene/table-rows.ts";
import type { Axes, Line } from "../scene/line-model.ts";
import { shortNumber } from "../scene/numbers.ts";
import { axisText } from "../view/summary.ts";

/** The same values as a chart, as a table: a row for each of some places of the axis, a column for each line. */
export function TableTwin({
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
            <th scope="col">{axes.x.kind === "number" ? (axes.x.label ?? "Step") : "Time"}</th>
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
              <th scope="row">{axes.x.kind === "number" ? shortNumber(x) : axisText(axes, x)}</th>
              {values.map((value, i) => (
                <td key={shown[i]!.id}>{value === undefined ? "" : shortNumber(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left !== "" && <p>{left}</p>}
    </div>
  );
}
