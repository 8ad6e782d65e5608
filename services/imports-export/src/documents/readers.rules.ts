import type { ReadDocumentRun } from "./document.rules.ts";
import { MLFLOW_PROJECT, readMlflowRun } from "./mlflow.rules.ts";
import { readNeptuneRun } from "./neptune.rules.ts";
import { readWandbRun } from "./wandb.rules.ts";

/** How documents of other trackers are read, by tracker, and the project of a document that names none. */
export const DOCUMENT_READERS: Readonly<
  Record<string, { readonly readRun: ReadDocumentRun; readonly project?: string }>
> = {
  wandb: { readRun: readWandbRun },
  neptune: { readRun: readNeptuneRun },
  mlflow: { readRun: readMlflowRun, project: MLFLOW_PROJECT },
};
