/** What can be drawn of a classifier: its true over its false positives, its precision over its recall, or what it took for what. */
export type ClassifierPicture = "roc" | "pr" | "confusion";

/** The columns of tables that are such a picture, as `wandb.plot` names them. */
export const PICTURE_COLUMNS = {
  roc: ["fpr", "tpr"],
  pr: ["recall", "precision"],
  confusion: ["Actual", "Predicted", "nPredictions"],
} as const satisfies Readonly<Record<ClassifierPicture, readonly string[]>>;

/** Returns which picture a table with these columns is; undefined for none. */
export function pictureOfColumns(columns: readonly string[]): ClassifierPicture | undefined {
  return (["confusion", "roc", "pr"] as const).find((picture) =>
    PICTURE_COLUMNS[picture].every((name) => columns.includes(name)),
  );
}
