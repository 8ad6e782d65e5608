import { Swatch } from "../look/look-picker.tsx";
import type { Line } from "../scene/line-model.ts";
import { shortName } from "../scene/names.ts";

/** Characters of a name. */
const NAME_MAX = 42;

/** What a legend names. */
export type LegendLine = Pick<Line, "name" | "color" | "dash"> & { readonly id?: string };

/** Names lines next to a piece of each. Pointing at one highlights it. */
export function Legend({
  lines,
  label,
  most = Infinity,
  onHighlight,
}: {
  readonly lines: readonly LegendLine[];
  /** What they are, in the plural. */
  readonly label: string;
  /** The others are counted. */
  readonly most?: number;
  readonly onHighlight: (id: string | undefined) => void;
}) {
  return (
    <ul class="tm-chart-legend" aria-label={label}>
      {lines.slice(0, most).map(({ id, name, color, dash }) => (
        <li key={id ?? name} onPointerEnter={() => onHighlight(id)} onPointerLeave={() => onHighlight(undefined)}>
          <Swatch color={color} dash={dash} />
          <span title={name}>{shortName(name, NAME_MAX)}</span>
        </li>
      ))}
      {lines.length > most && <li>{`${(lines.length - most).toLocaleString("en-US")} more`}</li>}
    </ul>
  );
}
