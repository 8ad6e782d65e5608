import type { SeriesTaker, StoredSeries } from "../read/metric-rows.rules.ts";
import type { Bounds } from "./columns-plan.rules.ts";

/** A point with the time that answers show, in microseconds. */
export type EdgePoint = { readonly step: number; readonly value: number; readonly timeUs: number };

/** Finds the points to which the lines of a chart continue beyond its bounds. */
export type EdgePoints = {
  readonly add: SeriesTaker;
  /** The latest arrival at the highest step below the bounds. */
  before(): EdgePoint | undefined;
  /** The earliest arrival at the lowest step above the bounds. */
  after(): EdgePoint | undefined;
};

/** Creates a finder, which takes points in the order of their arrival. */
export function createEdgePoints({ from, to }: Bounds): EdgePoints {
  let before: EdgePoint | undefined;
  let after: EdgePoint | undefined;
  return {
    add(series) {
      const { steps, values } = series;
      for (let i = 0; i < steps.length; i++) {
        const step = steps[i]!;
        if (step < from && !(step < (before?.step ?? 0)))
          before = { step, value: values[i]!, timeUs: timeUsOf(series, i) };
        else if (step > to && step < (after?.step ?? Infinity))
          after = { step, value: values[i]!, timeUs: timeUsOf(series, i) };
      }
    },
    before: () => before,
    after: () => after,
  };
}

/** Returns the client's time of a point, or else the time when the server received it, in microseconds. */
export function timeUsOf({ receivedUs, timestampsUs }: StoredSeries, i: number): number {
  const sent = timestampsUs[i];
  if (sent !== undefined && !Number.isNaN(sent)) return sent;
  return typeof receivedUs === "number" ? receivedUs : receivedUs[i]!;
}
