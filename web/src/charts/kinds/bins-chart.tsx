import { useMemo, useRef, useState } from "preact/hooks";
import { useWidth } from "../../ui/use-width.ts";
import { counted, shortNumber } from "../scene/numbers.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { binsSheet, commonBins, evenly, type StepHistogram } from "./bins.ts";
import { Figure } from "./figure.tsx";
import { heatNote, heatScene, type PointedBin } from "./heat-scene.ts";
import { ridgeScene } from "./ridge-scene.ts";

/** How histograms of several steps are drawn. */
export type BinsView = "ridges" | "heat";

/** Steps and bins that can be told apart in a picture. */
const STEPS_MAX = { ridges: 30, heat: 200 } as const;
const BINS = { ridges: 60, heat: 50 } as const;

/** Histograms that were logged over steps, as ridges or as a heat map. Arrow keys go from bin to bin and from step to step. */
export function BinsChart({
  title,
  histograms,
  view,
  color,
  height = 280,
}: {
  readonly title: string;
  /** By step, ascending. */
  readonly histograms: readonly StepHistogram[];
  readonly view: BinsView;
  /** Of ridges. */
  readonly color: string;
  readonly height?: number;
}) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  const inks = pageInks.value;
  const [pointed, setPointed] = useState<PointedBin | undefined>(undefined);
  const bins = useMemo(() => commonBins(evenly(histograms, STEPS_MAX[view]), BINS[view]), [histograms, view]);
  const drawn = useMemo(() => {
    if (width === 0 || bins === undefined) return undefined;
    const size = { width, height };
    return view === "heat" ? heatScene(bins, size, inks, pointed) : ridgeScene(bins, color, size, inks, pointed);
  }, [bins, view, color, width, height, inks, pointed]);
  if (bins === undefined) return <p class="tm-muted">These histograms cannot be drawn together.</p>;
  const { steps, edges, counts, shares } = bins;
  const onKeyDown = (event: KeyboardEvent): void => {
    const side = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const up = event.key === "ArrowUp" ? 1 : event.key === "ArrowDown" ? -1 : 0;
    if (event.key === "Escape") setPointed(undefined);
    else if (side !== 0 || up !== 0) {
      // Ridges have the first step on top, and values from left to right.
      const [byStep, byBin] = view === "heat" ? [side, up] : [-up, side];
      const within = (at: number, count: number): number => Math.min(Math.max(0, at), count - 1);
      const { step, bin } = pointed ?? { step: 0, bin: 0 };
      setPointed(
        pointed === undefined
          ? { step: 0, bin: 0 }
          : { step: within(step + byStep, steps.length), bin: within(bin + byBin, edges.length - 1) },
      );
    } else return;
    event.preventDefault();
  };
  const at =
    pointed !== undefined && pointed.step < steps.length && pointed.bin < edges.length - 1 ? pointed : undefined;
  const announced =
    at === undefined
      ? ""
      : `Step ${shortNumber(steps[at.step]!)}, ${shortNumber(edges[at.bin]!)} to ${shortNumber(edges[at.bin + 1]!)}: ${shortNumber(Number(counts[at.step]![at.bin]!.toPrecision(4)))}, ${(shares[at.step]![at.bin]! * 100).toFixed(1)}%`;
  const left = histograms.length - steps.length;
  const notes = [
    ...(view === "heat" ? [heatNote(bins)] : []),
    ...(left > 0 ? [`${steps.length} of ${counted(histograms.length, "step")} are drawn`] : []),
  ];
  return (
    <Figure
      place={place}
      title={title}
      summary={`${title}: histograms of ${counted(steps.length, "step")}, from ${shortNumber(steps[0]!)} to ${shortNumber(steps.at(-1)!)}, values ${shortNumber(edges[0]!)} to ${shortNumber(edges.at(-1)!)}. Arrow keys read them.`}
      scene={drawn?.scene}
      sheet={binsSheet(bins)}
      height={height}
      announced={announced}
      notes={notes}
      onPoint={(x, y) => setPointed(drawn?.at(x, y))}
      onLeave={() => setPointed(undefined)}
      onKeyDown={onKeyDown}
    />
  );
}
