import type { RunDetail } from "./run-types.ts";
import type { Changes } from "./use-changes.ts";

/** What every tab of a run gets. */
export type TabProps = {
  readonly run: RunDetail;
  readonly changes: Changes;
  readonly canWrite: boolean;
  /** Reads the run again after a change of one's own. */
  readonly reload: () => void;
};
