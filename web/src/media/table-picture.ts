import type { CurveKind } from "../charts/kinds/curves.ts";
import { pictureOfColumns, type ClassifierPicture } from "../charts/kinds/table-columns.ts";
import type { RichObject } from "./steps.ts";

/** Returns what the rows of a table draw of a classifier, as its columns say: a curve, a confusion matrix, or nothing. */
export function pictureOfTable({ kind, summary }: Pick<RichObject, "kind" | "summary">): ClassifierPicture | undefined {
  const columns = summary["columns"];
  return kind === "table" && Array.isArray(columns) ? pictureOfColumns(columns.map(String)) : undefined;
}

/** Returns the curves that some objects have, which are drawn in one plot. */
export function curvesIn(ofRuns: readonly { readonly object: RichObject }[]): readonly CurveKind[] {
  const hasEvaluation = ofRuns.some(({ object }) => object.kind === "classification_eval");
  return (["roc", "pr"] as const).filter(
    (kind) => hasEvaluation || ofRuns.some(({ object }) => pictureOfTable(object) === kind),
  );
}
