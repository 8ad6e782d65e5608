import type { ChartLink } from "../view/hover.ts";
import type { ChartState } from "../state/chart-state.ts";

/** A run whose lines charts show. */
export type ChartRun = {
  readonly id: string;
  readonly name: string;
  readonly hidden?: boolean;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly running: boolean;
};

/** What all cards of a section share. */
export type ChartContext = {
  readonly project: { readonly id: string; readonly name: string };
  /** Those that are shown. */
  readonly runs: readonly ChartRun[];
  readonly state: ChartState;
  readonly change: (changes: Partial<ChartState>, options?: { readonly replace?: boolean }) => void;
  readonly link: ChartLink;
  readonly highlight: string | undefined;
  readonly onHighlight: (id: string | undefined) => void;
  /** Counts the news of running runs; 0 where nothing is watched. */
  readonly news: number;
};
