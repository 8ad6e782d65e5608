import { useMemo } from "preact/hooks";
import { BinsChart, type BinsView } from "../charts/kinds/bins-chart.tsx";
import { lineInk } from "../charts/look/run-look.ts";
import { pageInks } from "../charts/view/canvas-stage.ts";
import { histogramsOf } from "./step-histograms.ts";
import type { RichObject } from "./steps.ts";

/** The histograms that a run logged under a key, over all steps. Ridges have the color of the run, which is gray on pages that do not use `useVisibleLines`. */
export function HistogramsOverSteps({
  label,
  objects,
  view,
  height,
}: {
  readonly label: string;
  /** Of one run and key, in any order. */
  readonly objects: readonly RichObject[];
  readonly view: BinsView;
  readonly height?: number;
}) {
  const histograms = useMemo(() => histogramsOf(objects), [objects]);
  const [first] = objects;
  if (first === undefined || histograms.length === 0) return <p class="tm-muted">No histogram has a step.</p>;
  const color = lineInk(first.run_id, pageInks.value.theme);
  return (
    <BinsChart
      title={label}
      histograms={histograms}
      view={view}
      color={color}
      {...(height === undefined ? {} : { height })}
    />
  );
}
