import type { Sheet } from "./sheet.ts";
import { PICTURE_COLUMNS } from "./table-columns.ts";

/** How often each class was taken for each: a row for each true label, a column for each predicted one. */
export type Confusion = { readonly labels: readonly string[]; readonly counts: readonly (readonly number[])[] };

/** Classes that are drawn; more do not fit on a screen. */
export const CLASSES_MAX = 60;

/** Returns the confusion matrix in the value of an evaluation; undefined where it has none, or one that is not square. */
export function confusionOfEvaluation(value: unknown): Confusion | undefined {
  const { class_names: names, confusion_matrix: matrix } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(matrix) || matrix.length === 0) return undefined;
  const isSquare = matrix.every(
    (row) => Array.isArray(row) && row.length === matrix.length && row.every((cell) => isCount(cell)),
  );
  if (!isSquare) return undefined;
  const labels = Array.isArray(names) ? names.map(String) : [];
  return { labels: matrix.map((_, i) => labels[i] ?? String(i)), counts: matrix as number[][] };
}

/** Returns the confusion matrix in the rows of a table: a row for each pair of labels. Labels are in the order in which they appear. */
export function confusionOfRows(rows: readonly Readonly<Record<string, unknown>>[]): Confusion | undefined {
  const [actual, predicted, count] = PICTURE_COLUMNS.confusion;
  const known = rows.filter((row) => row[actual] !== undefined && row[predicted] !== undefined && isCount(row[count]));
  const labels = [...new Set([actual, predicted].flatMap((name) => known.map((row) => String(row[name]))))];
  if (labels.length === 0) return undefined;
  const place = new Map(labels.map((label, i) => [label, i]));
  const counts = labels.map(() => labels.map(() => 0));
  for (const row of known)
    counts[place.get(String(row[actual]))!]![place.get(String(row[predicted]))!]! += row[count] as number;
  return { labels, counts };
}

const isCount = (value: unknown): boolean => typeof value === "number" && value >= 0 && Number.isFinite(value);

/** Returns each count as a share of its row: of the cases that have this true label. 0 in a row without cases. */
export function rowShares({ counts }: Confusion): readonly (readonly number[])[] {
  return counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return row.map((count) => (total === 0 ? 0 : count / total));
  });
}

/** Returns a matrix as a table: a row for each cell. */
export function confusionSheet(confusion: Confusion): Sheet {
  const { labels, counts } = confusion;
  const shares = rowShares(confusion);
  return {
    head: ["actual", "predicted", "count", "share_of_actual"],
    rows: counts.flatMap((row, i) => row.map((count, j) => [labels[i], labels[j], count, shares[i]![j]])),
  };
}

/** Writes a share of a row: whole percents, with a decimal below 10, and nothing where there is none. */
export function shareText(share: number): string {
  if (share === 0) return "0%";
  const percent = share * 100;
  return percent < 10 ? `${percent.toFixed(1)}%` : `${percent.toFixed(0)}%`;
}
