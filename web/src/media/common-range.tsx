import { currentLocation, setQuery } from "../app/location.tsx";
import { Checkbox } from "../ui/field.tsx";
import { commonRange, type HistogramRange } from "./histogram-bars.ts";
import type { RichObject } from "./steps.ts";

/** Whether histograms are drawn in one range, which the address says. */
const isShared = (): boolean => currentLocation.value.query.get("bins") === "same";

const valuesOf = (objects: readonly RichObject[]): readonly unknown[] =>
  objects.flatMap(({ kind, value }) => (kind === "histogram" ? [value] : []));

/** Returns the range of all histograms among some objects, where they are to share one. */
export function commonRangeOf(objects: readonly RichObject[]): HistogramRange | undefined {
  return isShared() ? commonRange(valuesOf(objects)) : undefined;
}

/** Draws all histograms in one range, or each in its own; nothing where there are fewer than two. */
export function RangeToggle({ objects }: { readonly objects: readonly RichObject[] }) {
  if (valuesOf(objects).length < 2) return null;
  return (
    <Checkbox
      label="Same range for all histograms"
      checked={isShared()}
      onChange={(on) => setQuery({ bins: on ? "same" : undefined }, { replace: true })}
    />
  );
}
