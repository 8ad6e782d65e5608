import { signal, type Signal } from "@preact/signals";

/** Where the user points: charts that share it show it together. */
export type Pointed = {
  /** On the axis. */
  readonly x: number;
  /** In pixels of the chart that is pointed at. */
  readonly top: number | undefined;
  /** The chart that is pointed at. */
  readonly chart: string;
  /** Stays when the pointer leaves. */
  readonly pinned: boolean;
};

/** The state that charts on one page share. */
export type ChartLink = { readonly pointed: Signal<Pointed | undefined> };

/** Makes what charts share. */
export function createLink(): ChartLink {
  return { pointed: signal<Pointed | undefined>(undefined) };
}
