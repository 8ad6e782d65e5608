import { badRequest } from "@tidemark/errors";

const statuses = {
  RUNNING: "running",
  SCHEDULED: "running",
  FINISHED: "finished",
  FAILED: "failed",
  KILLED: "failed",
} as const;

/** A word for the status of a run of MLflow. */
export type MlflowStatus = keyof typeof statuses;

/** Words by the statuses that are shown of a run. */
const words: Readonly<Record<string, MlflowStatus>> = {
  running: "RUNNING",
  stopping: "RUNNING",
  stopped: "KILLED",
  finished: "FINISHED",
  failed: "FAILED",
};

/** Reads a status; clients before 2 send its number. @throws bad_request */
export function readStatus(sent: unknown): MlflowStatus {
  if (typeof sent === "string" && Object.hasOwn(statuses, sent)) return sent as MlflowStatus;
  throw badRequest(`status must be one of ${Object.keys(statuses).join(", ")}`, "status");
}

/** Returns the stored status. */
export function storedStatus(word: MlflowStatus): (typeof statuses)[MlflowStatus] {
  return statuses[word];
}

/** Returns the word, where the stored status does not say it. */
export function keptWord(word: MlflowStatus): MlflowStatus | null {
  return words[statuses[word]] === word ? null : word;
}

/** Returns the word for a run: the one that was kept, while the run still has its status. */
export function wordOf(stored: string, shown: string, kept: unknown): MlflowStatus {
  const isKept = typeof kept === "string" && Object.hasOwn(statuses, kept) && statuses[kept as MlflowStatus] === stored;
  return isKept ? (kept as MlflowStatus) : (words[shown] ?? "RUNNING");
}
