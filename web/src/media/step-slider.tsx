import { currentLocation, setQuery } from "../app/location.tsx";
import { useKeys } from "../app/keys.ts";
import { IconButton } from "../ui/button.tsx";
import "./media.css";
import { nearestStop } from "./steps.ts";

/** The step that the address names, as the nearest stop; the last one where it names none. */
export function shownStep(stops: readonly number[]): number | undefined {
  const text = currentLocation.value.query.get("step");
  const wanted = text === null || text === "" ? Number.NaN : Number(text);
  return Number.isNaN(wanted) ? stops.at(-1) : nearestStop(stops, wanted);
}

/** One slider for everything that was logged at steps, in any key or run: it stops at `stops`, ascending. Its step is in the address. */
export function StepSlider({
  stops,
  isTruncated = false,
}: {
  readonly stops: readonly number[];
  /** Earlier steps are left out, because there are too many. */
  readonly isTruncated?: boolean;
}) {
  const step = shownStep(stops);
  const at = step === undefined ? -1 : stops.indexOf(step);
  const go = (index: number): void => {
    const stop = stops[Math.min(Math.max(index, 0), stops.length - 1)];
    if (stop === undefined) return;
    // At the end it follows new steps.
    setQuery({ step: stop === stops.at(-1) ? undefined : String(stop) }, { replace: true });
  };
  // From the step of the address, which a key that is pressed again may have changed before this is drawn.
  const goBy = (by: number): void => go(stops.indexOf(shownStep(stops) ?? Number.NaN) + by);
  useKeys(
    {
      ",": { label: "Previous step", run: () => goBy(-1) },
      ".": { label: "Next step", run: () => goBy(1) },
    },
    { label: "Media" },
  );
  if (stops.length < 2 || step === undefined) return null;
  return (
    <div class="tm-step-slider">
      <label for="media-step">Step</label>
      <IconButton icon="chevron-left" label="Previous step" size="s" disabled={at === 0} onClick={() => go(at - 1)} />
      <input
        id="media-step"
        type="range"
        min={0}
        max={stops.length - 1}
        step={1}
        value={at}
        aria-valuetext={`Step ${step}`}
        onInput={(event) => go(Number(event.currentTarget.value))}
      />
      <IconButton
        icon="chevron-right"
        label="Next step"
        size="s"
        disabled={at === stops.length - 1}
        onClick={() => go(at + 1)}
      />
      <output for="media-step">{step.toLocaleString("en-US")}</output>
      {isTruncated && <span class="tm-muted">the last steps of each key</span>}
    </div>
  );
}
