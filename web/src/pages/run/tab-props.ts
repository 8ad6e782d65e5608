import type { Changes } from "../../api/use-changes.ts";
import type { RunDetail } from "../../api/run-types.ts";

/** The props of every tab of a run. */
export type TabProps = {
  readonly run: RunDetail;
  readonly changes: Changes;
  readonly canWrite: boolean;
  /** Reads the run again after a change of one's own. */
  readonly reload: () => void;
};
