import type { ChartLink } from "../view/summary.ts";
import type { ChartState } from "../state/chart-state.ts";

/** A run whose lines charts show. */
export type ChartRun = {
  readonly id: string;
  readonly name: string;
  readonly hidden?: boolean;
  /** RFC 3339. */
  readonly startedAt: string;
  readonly running: boolean;
  /** Of a fork, the step up to which the points of its parent are its own beginning. */
  readonly forkStep?: number | undefined;
  /** Of a fork, its parent where the person may see it: with the parent's part, also metrics that the parent alone has are shown. */
  readonly parentId?: string | undefined;
};

/** The context that all cards of a section share. */
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
