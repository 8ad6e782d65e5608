import type { WorkItem } from "../domain/work-item.ts";

/** What a visit tells its loop. */
export type VisitResult = {
  /** When to look again, unless a mark says earlier. */
  readonly nextSeconds: number;
  /** Nothing waits: the work ends if no mark came for long. */
  readonly isQuiet: boolean;
  /** Landed rows that were compacted, and what was written instead of them. */
  readonly rows: number;
  readonly blocks: number;
};

/** What can be compacted. */
export type CompactionKind = {
  /** `logs`, `metrics`: the kind of marks and work. */
  readonly name: string;
  /**
   * Does what is due, in steps of bounded size, each of which takes effect as a whole and only while the fence holds. Ends after the step in
   * hand when `isStopping`.
   */
  visit(item: WorkItem, isStopping: () => boolean): Promise<VisitResult>;
  /** About how many landed rows wait, of all organizations. */
  countWaiting(): Promise<number>;
};
