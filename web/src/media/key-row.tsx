import { useEffect, useRef } from "preact/hooks";
import { RunSwatch } from "../charts/index.ts";
import { classes } from "../ui/class-names.ts";
import type { HistogramRange } from "./histogram-bars.ts";
import type { MediaKey } from "./media-keys.ts";
import { ClassifierPictureOfRuns } from "../panels/lazy-pictures.tsx";
import type { ObjectOfRun } from "./classifier.ts";
import { curvesIn } from "./table-picture.ts";
import { ObjectCard } from "./object-card.tsx";
import type { RichObject } from "./steps.ts";
import { useInSight } from "./use-in-sight.ts";
import type { KeyObjects } from "./use-side-by-side.ts";

/** A run whose objects are shown. */
export type MediaRun = { readonly id: string; readonly name: string };

/** Pixels that a row takes before it was drawn. */
const HEIGHT_USUAL = 260;

/** What each run logged under a key, side by side. Out of sight it is an empty space of the same height. */
export function KeyRow({
  of: { key, kinds, run_ids: ids },
  runs,
  objects,
  step,
  range,
  onSight,
}: {
  readonly of: MediaKey;
  readonly runs: readonly MediaRun[];
  /** Undefined until they are read. */
  readonly objects: KeyObjects | undefined;
  readonly step: number | undefined;
  readonly range: HistogramRange | undefined;
  readonly onSight: (key: string, isInSight: boolean) => void;
}) {
  const [place, isInSight] = useInSight<HTMLElement>();
  const height = useRef(HEIGHT_USUAL);
  useEffect(() => {
    onSight(key, isInSight);
    return () => onSight(key, false);
  }, [key, isInSight]);
  const isDrawn = isInSight && objects !== undefined;
  useEffect(() => {
    if (isDrawn && place.current !== null) height.current = place.current.offsetHeight;
  });
  const logged = new Set(ids);
  const ofRuns = runs.flatMap((run): ObjectOfRun[] => {
    const object = objects?.byRun.get(run.id);
    return object === undefined ? [] : [{ run, object }];
  });
  const curves = isDrawn ? curvesIn(ofRuns) : [];
  const isWide = kinds.includes("table") || kinds.includes("classification_eval");
  return (
    <section
      ref={place}
      class="tm-compare-key"
      aria-busy={(isInSight && !isDrawn) || undefined}
      style={isDrawn ? {} : { minHeight: `${height.current}px` }}
    >
      <h2>{key}</h2>
      {curves.length > 0 && (
        <div class="tm-classifier">
          {curves.map((kind) => (
            <ClassifierPictureOfRuns key={kind} kind={kind} label={key} ofRuns={ofRuns} isQuiet />
          ))}
        </div>
      )}
      {isDrawn && (
        <div
          class={classes("tm-compare-objects", isWide && "tm-compare-wide")}
          role="region"
          aria-label={`${key} of each run`}
          tabIndex={0}
        >
          {runs.map((run) => (
            <RunCard
              key={run.id}
              name={key}
              run={run}
              object={objects.byRun.get(run.id)}
              isRead={objects.runIds.has(run.id)}
              isLogged={logged.has(run.id)}
              step={step}
              range={range}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function RunCard({
  name,
  run,
  object,
  isRead,
  isLogged,
  step,
  range,
}: {
  /** The key. */
  readonly name: string;
  readonly run: MediaRun;
  readonly object: RichObject | undefined;
  /** Whether it is known what the run has at the step. */
  readonly isRead: boolean;
  /** Whether the run has objects of the key, at any step. */
  readonly isLogged: boolean;
  readonly step: number | undefined;
  readonly range: HistogramRange | undefined;
}) {
  const [place, isInSight] = useInSight<HTMLDivElement>();
  const wasInSight = useRef(false);
  wasInSight.current ||= isInSight;
  const mark = <RunSwatch runId={run.id} />;
  // Of a hundred runs few are in sight, and tables read more when they are drawn.
  const isShown = object !== undefined && wasInSight.current;
  return (
    <div ref={place} class="tm-compare-object">
      {isShown ? (
        <ObjectCard
          name={run.name}
          label={`${name} of ${run.name}`}
          mark={mark}
          object={object}
          step={step}
          range={range}
          withoutCurves
        />
      ) : (
        <figure class="tm-object" data-step="">
          <figcaption>
            {mark} <span class="tm-object-key">{run.name}</span>
          </figcaption>
          {isRead && object === undefined && (
            <p class="tm-muted">
              {!isLogged || step === undefined
                ? "Nothing logged."
                : `Nothing logged up to step ${step.toLocaleString("en-US")}.`}
            </p>
          )}
        </figure>
      )}
    </div>
  );
}
