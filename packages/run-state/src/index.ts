export { applyRunEvent, type RunEvent, type Transition } from "./apply-run-event.ts";
export { eachRunField, runFields, runFieldsOf, runMembersOf, type RunFields } from "./run-fields.ts";
export {
  appendLifecycle,
  DISPLAY_STATUSES,
  displayStatus,
  isStopPending,
  isStopRequested,
  isTerminal,
  LIFECYCLE_ENTRIES_MAX,
  newRunState,
  NO_STOP,
  type DisplayStatus,
  type LifecycleEntry,
  type RunState,
  type RunStatus,
  type StopActor,
  type StopRecord,
  type StopState,
} from "./run-state.ts";
export {
  instantOf,
  instantText,
  rowOfState,
  stateColumnNames,
  stateColumns,
  stateOfRow,
  type RunStateRow,
} from "./state-row.ts";
export { RUN_STATUSES, STOP_STATES, type Outcome } from "./transition-table.ts";
