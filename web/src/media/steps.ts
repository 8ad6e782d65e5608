/** Something that was logged at a step, or once and for all. */
export type Stepped = { readonly step: number | null; readonly created_at: string };

/** Returns the steps that a slider stops at: those of all things, each once, ascending. */
export function sliderSteps(things: readonly Stepped[]): readonly number[] {
  const steps = new Set<number>();
  for (const { step } of things) if (step !== null) steps.add(step);
  return [...steps].toSorted((a, b) => a - b);
}

/**
 * Returns which of the things of one key a slider at `step` shows: the one of the last step at or before it, of several at one step the
 * newest; if all are later, the first. A thing without a step is returned only if none has one.
 */
export function atStep<Thing extends Stepped>(things: readonly Thing[], step: number | undefined): Thing | undefined {
  let best: Thing | undefined;
  for (const thing of things) {
    if (best === undefined || isBetter(thing, best, step ?? Infinity)) best = thing;
  }
  return best;
}

function isBetter(thing: Stepped, best: Stepped, step: number): boolean {
  if (thing.step === null || best.step === null) {
    if (thing.step === best.step) return thing.created_at > best.created_at;
    return best.step === null;
  }
  if (thing.step === best.step) return thing.created_at > best.created_at;
  const isReached = thing.step <= step;
  if (isReached !== best.step <= step) return isReached;
  return isReached ? thing.step > best.step : thing.step < best.step;
}

/** Returns the stop of the slider nearest to a step, the earlier one of two; undefined where there is none. */
export function nearestStop(stops: readonly number[], step: number): number | undefined {
  let best: number | undefined;
  for (const stop of stops) if (best === undefined || Math.abs(stop - step) < Math.abs(best - step)) best = stop;
  return best;
}

/** A rich object of a run. */
export type RichObject = {
  readonly id: number;
  readonly run_id: string;
  readonly key: string;
  readonly kind: "table" | "image" | "video" | "audio" | "histogram" | "classification_eval";
  readonly step: number | null;
  readonly value: unknown;
  readonly metadata: { readonly [key: string]: unknown };
  readonly summary: { readonly [key: string]: unknown };
  readonly artifact: {
    readonly id: string;
    readonly name: string;
    readonly mime_type: string;
    readonly size_bytes: number | null;
    readonly storage_backend: string;
  } | null;
  readonly created_at: string;
};

/** Groups objects by their keys, in the order of the names. */
export function objectsByKey(objects: readonly RichObject[]): readonly (readonly [string, readonly RichObject[]])[] {
  const groups = new Map<string, RichObject[]>();
  for (const object of objects) {
    const group = groups.get(object.key);
    if (group === undefined) groups.set(object.key, [object]);
    else group.push(object);
  }
  return [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1));
}
