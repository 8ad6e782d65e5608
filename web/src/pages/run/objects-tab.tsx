import { useState } from "preact/hooks";
import { currentLocation, setQuery } from "../../app/location.tsx";
import { ObjectCard } from "../../media/object-card.tsx";
import { atStep, objectsByKey, sliderSteps, type RichObject } from "../../media/steps.ts";
import { shownStep, StepSlider } from "../../media/step-slider.tsx";
import { useObjects } from "../../media/use-objects.ts";
import { RangeToggle, commonRangeOf } from "../../media/common-range.tsx";
import { hasHistory, histogramView, HistogramViewSelect } from "../../media/histogram-view.tsx";
import { HistogramsOverSteps } from "../../panels/lazy-pictures.tsx";
import { useVisibleLines } from "../../charts/index.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState, ErrorNote } from "../../ui/page-states.tsx";
import { counted } from "../../ui/words.ts";
import { Snippet } from "../../ui/copy-button.tsx";
import { Skeleton } from "../../ui/spinner.tsx";
import { TextField } from "../../ui/field.tsx";
import type { TabProps } from "./run-actions.ts";

/** Keys that are drawn at a time. */
const KEYS_SHOWN = 24;

/** Tables, pictures, sounds, films, histograms and evaluations of a run, all at the step of one slider. */
export function ObjectsTab({ run, changes }: TabProps) {
  const { byRun, error, isOver, more } = useObjects([run.id], changes.objects);
  const objects = byRun.get(run.id);
  const [shown, setShown] = useState(KEYS_SHOWN);
  useVisibleLines(run.project_id, [run.id]);
  const search = currentLocation.value.query.get("find") ?? "";
  if (objects === undefined)
    return error === undefined ? <Skeleton lines={6} height="40px" /> : <ErrorNote error={error} />;
  if (objects.length === 0) {
    return (
      <EmptyState title="No objects yet" icon="image">
        <p>Pictures, tables, sounds and histograms appear here, all of them at the step that one slider chooses.</p>
        <Snippet label="Log an image" text={'run.log_image("samples/grid", "grid.png", step=100)'} />
      </EmptyState>
    );
  }
  const groups = objectsByKey(objects).filter(([key]) => key.toLowerCase().includes(search.trim().toLowerCase()));
  const all: readonly RichObject[] = groups.flatMap(([, group]) => group);
  const stops = sliderSteps(all);
  const step = shownStep(stops);
  const drawn = groups.slice(0, shown).flatMap(([key, group]) => {
    const object = atStep(group, step);
    return object === undefined ? [] : [{ key, object, group }];
  });
  const view = histogramView();
  const range = commonRangeOf(drawn.map(({ object }) => object));
  return (
    <div class="tm-stack">
      <div class="tm-tools">
        <TextField
          label="Search object keys"
          hideLabel
          type="search"
          placeholder="Search keys"
          value={search}
          onInput={(text) => setQuery({ find: text }, { replace: true })}
        />
        <span class="tm-muted">{counted(groups.length, "key")}</span>
        <HistogramViewSelect groups={drawn.map(({ group }) => group)} />
        {view === "step" && <RangeToggle objects={drawn.map(({ object }) => object)} />}
        {!isOver && (
          <Button size="s" onClick={more}>
            Load earlier steps
          </Button>
        )}
      </div>
      <ErrorNote error={error} />
      <StepSlider stops={stops} />
      <div class="tm-objects">
        {drawn.map(({ key, object, group }) =>
          view !== "step" && hasHistory(group) ? (
            <figure key={key} class="tm-object tm-object-wide" data-step="">
              <figcaption>
                <span class="tm-object-key">{key}</span>
              </figcaption>
              <HistogramsOverSteps label={key} objects={group} view={view} />
            </figure>
          ) : (
            <ObjectCard key={key} name={key} object={object} step={step} range={range} />
          ),
        )}
      </div>
      {groups.length > shown && (
        <Button onClick={() => setShown(shown + KEYS_SHOWN)}>{`Show more of ${counted(groups.length, "key")}`}</Button>
      )}
    </div>
  );
}
