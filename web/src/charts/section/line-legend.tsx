import { Swatch } from "../look/run-swatch.tsx";
import type { Line } from "../scene/line-model.ts";
import { counted } from "../scene/numbers.ts";

/** Lines that are named below a chart; the others are named when pointed at. */
const LISTED_MAX = 12;

/** Names the lines of a chart whose names are nowhere else, such as groups. Pointing at one highlights it. */
export function LineLegend({
  lines,
  onHighlight,
}: {
  readonly lines: readonly Line[];
  readonly onHighlight: (id: string | undefined) => void;
}) {
  return (
    <ul class="tm-chart-legend" aria-label="Groups">
      {lines.slice(0, LISTED_MAX).map(({ id, name, color, dash }) => (
        <li key={id} onPointerEnter={() => onHighlight(id)} onPointerLeave={() => onHighlight(undefined)}>
          <Swatch color={color} dash={dash} /> {name}
        </li>
      ))}
      {lines.length > LISTED_MAX && <li>{counted(lines.length - LISTED_MAX, "more group")}</li>}
    </ul>
  );
}
