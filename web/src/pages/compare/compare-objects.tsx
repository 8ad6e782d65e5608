import { useState } from "preact/hooks";
import { RunSwatch } from "../../charts/index.ts";
import { ObjectCard } from "../../media/object-card.tsx";
import { atOrBefore, sliderSteps, type RichObject } from "../../media/steps.ts";
import { shownStep, StepSlider } from "../../media/step-slider.tsx";
import { useObjects } from "../../media/use-objects.ts";
import { commonRangeOf, RangeToggle } from "../../media/common-range.tsx";
import type { HistogramRange } from "../../media/histogram-bars.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { Skeleton } from "../../ui/spinner.tsx";
import { comparedObjects, type ComparedObjects } from "./compare-rows.ts";

/** Runs whose objects are read at a time; those of fifty would be 25,000 objects. */
const RUNS_AT_ONCE = 8;

/** Keys that are drawn at a time. */
const KEYS_AT_ONCE = 12;

type Run = { readonly id: string; readonly name: string };

/** Objects that runs logged under the same keys, side by side at the step of one slider. */
export function CompareObjects({
  runs,
  search,
  matches,
}: {
  readonly runs: readonly Run[];
  readonly search: string;
  /** Whether a key passes the search. */
  readonly matches: (key: string) => boolean;
}) {
  const [runsRead, setRunsRead] = useState(RUNS_AT_ONCE);
  const [keysShown, setKeysShown] = useState(KEYS_AT_ONCE);
  const compared = runs.slice(0, runsRead);
  const ids = compared.map(({ id }) => id);
  const { byRun, error, isOver, more } = useObjects(ids, 0);
  const all = comparedObjects(ids, byRun);
  const rows = all.filter(({ key }) => matches(key));
  const things = rows.flatMap(({ ofRuns }) => ofRuns.flat());
  const step = shownStep(sliderSteps(things));
  const drawn = rows
    .slice(0, keysShown)
    .flatMap(({ ofRuns }) => ofRuns.flatMap((objects) => atOrBefore(objects, step) ?? []));
  const range = commonRangeOf(drawn);
  const isReading = byRun.size < compared.length && error === undefined;
  return (
    <section class="tm-stack" aria-label="Objects" aria-busy={isReading || undefined}>
      <ErrorNote error={error} />
      <div class="tm-tools">
        <span class="tm-muted">{counted(rows.length, "key")}</span>
        <RangeToggle objects={drawn} />
        {runs.length > compared.length && (
          <Button size="s" onClick={() => setRunsRead(runsRead + RUNS_AT_ONCE)}>
            {`Show more of ${counted(runs.length, "run")}`}
          </Button>
        )}
        {!isOver && (
          <Button size="s" onClick={more}>
            Load earlier steps
          </Button>
        )}
      </div>
      <StepSlider things={things} />
      {isReading && all.length === 0 && <Skeleton lines={6} height="40px" />}
      {!isReading && error === undefined && rows.length === 0 && (
        <EmptyState title={all.length === 0 ? "No objects" : "No key matches"} icon="image">
          {all.length === 0
            ? "These runs have logged no tables, pictures, sounds or histograms."
            : `No object of these runs has a key with “${search}”.`}
        </EmptyState>
      )}
      {rows.slice(0, keysShown).map((row) => (
        <KeyRow key={row.key} row={row} runs={compared} step={step} range={range} />
      ))}
      {rows.length > keysShown && (
        <Button
          onClick={() => setKeysShown(keysShown + KEYS_AT_ONCE)}
        >{`Show more of ${counted(rows.length, "key")}`}</Button>
      )}
    </section>
  );
}

/** The last object that each run logged under a key up to the step. */
function KeyRow({
  row,
  runs,
  step,
  range,
}: {
  readonly row: ComparedObjects;
  readonly runs: readonly Run[];
  readonly step: number | undefined;
  readonly range: HistogramRange | undefined;
}) {
  return (
    <section class="tm-compare-key">
      <h2>{row.key}</h2>
      <div class="tm-compare-objects" role="region" aria-label={`${row.key} of each run`} tabIndex={0}>
        {runs.map((run, i) => (
          <RunObject key={run.id} name={row.key} run={run} objects={row.ofRuns[i] ?? []} step={step} range={range} />
        ))}
      </div>
    </section>
  );
}

function RunObject({
  name,
  run,
  objects,
  step,
  range,
}: {
  /** The key. */
  readonly name: string;
  readonly run: Run;
  readonly objects: readonly RichObject[];
  readonly step: number | undefined;
  readonly range: HistogramRange | undefined;
}) {
  const object = atOrBefore(objects, step);
  const mark = <RunSwatch runId={run.id} />;
  if (object !== undefined)
    return (
      <ObjectCard
        name={run.name}
        label={`${name} of ${run.name}`}
        mark={mark}
        object={object}
        step={step}
        range={range}
      />
    );
  return (
    <figure class="tm-object" data-step="">
      <figcaption>
        {mark} <span class="tm-object-key">{run.name}</span>
      </figcaption>
      <p class="tm-muted">
        {objects.length === 0 || step === undefined
          ? "Nothing logged."
          : `Nothing logged up to step ${step.toLocaleString("en-US")}.`}
      </p>
    </figure>
  );
}
