import type { BinsView } from "../charts/kinds/bins-chart.tsx";
import { currentLocation, setQuery } from "../app/location.tsx";
import { Select } from "../ui/field.tsx";
import type { RichObject } from "./steps.ts";

/** How histograms are drawn: those of one step, or those of all steps of a key together. */
export type HistogramView = "step" | BinsView;

const VIEWS = [
  { value: "step", label: "Histograms: at one step" },
  { value: "ridges", label: "Histograms: ridges over steps" },
  { value: "heat", label: "Histograms: heat map over steps" },
] as const satisfies readonly { readonly value: HistogramView; readonly label: string }[];

/** Returns how the address says that histograms are drawn. */
export function histogramView(): HistogramView {
  const text = currentLocation.value.query.get("hist");
  return VIEWS.find(({ value }) => value === text)?.value ?? "step";
}

/** Whether a key has histograms of several steps, which can be drawn together. */
export const hasHistory = (objects: readonly RichObject[]): boolean =>
  objects.some(({ kind }) => kind === "histogram") && new Set(objects.map(({ step }) => step)).size > 1;

/** Chooses how all histograms of the page are drawn; nothing where no key of these has several steps. */
export function HistogramViewSelect({ groups }: { readonly groups: readonly (readonly RichObject[])[] }) {
  if (!groups.some(hasHistory)) return null;
  return (
    <Select
      label="Histograms"
      hideLabel
      value={histogramView()}
      options={VIEWS}
      onChange={(view) => setQuery({ hist: view === "step" ? undefined : view }, { replace: true })}
    />
  );
}
