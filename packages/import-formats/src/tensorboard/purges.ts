/** The position of an event in its run: the number of its file, then of its record. */
export type EventPlace = { readonly file: number; readonly record: number };

/** The events that restarts of a run take back: all earlier ones from the step of the restart on. */
export type Purges = {
  /** Adds a restart; restarts are added in their order. */
  add(place: EventPlace, step: number): void;
  /** Returns whether a later restart takes back an event. */
  purges(place: EventPlace, step: number): boolean;
};

/** Collects restarts. A restart that a later one at the same or a lower step covers is not kept. */
export function createPurges(): Purges {
  const kept: (EventPlace & { readonly step: number })[] = [];
  let next = 0;
  return {
    add(place, step) {
      while (kept.length > 0 && kept.at(-1)!.step >= step) kept.pop();
      kept.push({ ...place, step });
    },
    // Asked in the order of events. Steps of kept restarts rise, so the next one takes back most.
    purges({ file, record }, step) {
      while (next < kept.length && !isAfter(kept[next]!, file, record)) next += 1;
      return next < kept.length && step >= kept[next]!.step;
    },
  };
}

function isAfter(place: EventPlace, file: number, record: number): boolean {
  return place.file > file || (place.file === file && place.record > record);
}
