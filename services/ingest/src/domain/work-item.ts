/** Something of a run that wants to be looked after, as claimed. */
export type WorkItem = {
  readonly orgId: string;
  readonly runId: string;
  /** The part of the run that is compacted as one: of logs, the stream; of metrics, none. */
  readonly part: string;
  /** Every effect of the work shows it: a claim that was lost meanwhile has another one. */
  readonly fence: string;
  /** When its latest mark was taken; RFC 3339. */
  readonly markedAt: string;
  /** How often in a row the work failed before. */
  readonly failures: number;
};
