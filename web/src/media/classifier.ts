import { DASHES } from "../charts/look/palette.ts";
import { curveOfEvaluation, curvesOfRows, type CurveKind, type NamedCurve } from "../charts/kinds/curves.ts";
import { confusionOfEvaluation, confusionOfRows, type Confusion } from "../charts/kinds/confusion.ts";
import type { RichObject } from "./steps.ts";
import { pictureOfTable } from "./table-picture.ts";

/** Rows of a logged table. */
export type Rows = readonly Readonly<Record<string, unknown>>[];

/** An object of a run, and its rows if it is a table whose rows are drawn. */
export type ObjectOfRun = {
  readonly run: { readonly id: string; readonly name: string };
  readonly object: RichObject;
  readonly rows?: Rows | undefined;
};

/** Returns the curves of one kind of some runs: of evaluations, and of tables with such columns. Several classes of a run differ by their dashes. */
export function curvesOfRuns(
  kind: CurveKind,
  ofRuns: readonly ObjectOfRun[],
  colorOf: (runId: string) => string,
): readonly NamedCurve[] {
  return ofRuns.flatMap(({ run, object, rows = [] }) => {
    const one = object.kind === "classification_eval" ? curveOfEvaluation(kind, object.value) : undefined;
    const all = one !== undefined ? [one] : pictureOfTable(object) === kind ? curvesOfRows(kind, rows) : [];
    return all.map(({ className, points }, i): NamedCurve => ({
      id: i === 0 ? run.id : `${run.id} ${i}`,
      name: className === undefined || all.length === 1 ? run.name : `${run.name}, ${className}`,
      color: colorOf(run.id),
      dash: DASHES[i % DASHES.length]!,
      points,
    }));
  });
}

/** Returns the confusion matrix of an evaluation or of a table of pairs of labels. */
export function confusionOf({ object, rows = [] }: Pick<ObjectOfRun, "object" | "rows">): Confusion | undefined {
  if (object.kind === "classification_eval") return confusionOfEvaluation(object.value);
  return pictureOfTable(object) === "confusion" ? confusionOfRows(rows) : undefined;
}
