import { RunSwatch } from "../charts/index.ts";
import { useMemo } from "preact/hooks";
import { ConfusionMatrix } from "../charts/kinds/confusion-matrix.tsx";
import { CurveChart } from "../charts/kinds/curve-chart.tsx";
import type { CurveKind } from "../charts/kinds/curves.ts";
import { lineInk } from "../charts/look/run-look.ts";
import { pageInks } from "../charts/view/canvas-stage.ts";
import { ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";
import type { ClassifierPicture } from "../charts/kinds/table-columns.ts";
import { confusionOf, curvesOfRuns, type ObjectOfRun } from "./classifier.ts";
import type { RichObject } from "./steps.ts";
import { pictureOfTable } from "./table-picture.ts";
import { useTableRows } from "./use-table-rows.ts";

/** The name of a picture of a classifier. */
const PICTURE_NAMES: Readonly<Record<ClassifierPicture, string>> = {
  roc: "ROC curve",
  pr: "Precision-recall curve",
  confusion: "Confusion matrix",
};

const HEIGHT = 280;

/** What one object draws of a classifier: the matrix and the curves of an evaluation, or what the columns of a table say. */
export function ClassifierOf({
  label,
  object,
  withoutCurves = false,
}: {
  readonly label: string;
  readonly object: RichObject;
  /** Draws the matrix alone. */
  readonly withoutCurves?: boolean;
}) {
  const picture = pictureOfTable(object);
  const all = picture === undefined ? (["confusion", "roc", "pr"] as const) : [picture];
  const kinds = all.filter((kind) => kind === "confusion" || !withoutCurves);
  const ofRuns = useMemo(() => [{ run: { id: object.run_id, name: label }, object }], [label, object]);
  return (
    <div class="tm-classifier">
      {kinds.map((kind) => (
        <ClassifierPictureOfRuns key={kind} kind={kind} label={label} ofRuns={ofRuns} isQuiet />
      ))}
    </div>
  );
}

/** A picture of the classifiers of some runs: their curves in one plot, or a confusion matrix for each. */
export function ClassifierPictureOfRuns({
  kind,
  label,
  ofRuns,
  isQuiet = false,
}: {
  readonly kind: ClassifierPicture;
  readonly label: string;
  readonly ofRuns: readonly ObjectOfRun[];
  /** Shows nothing where there is nothing to draw. */
  readonly isQuiet?: boolean;
}) {
  const tables = ofRuns.flatMap(({ object }) => (pictureOfTable(object) === kind ? [object.id] : []));
  const { data, error, reload } = useTableRows(tables);
  const withRows = useMemo(
    () => ofRuns.map((one): ObjectOfRun => ({ ...one, rows: data?.get(one.object.id) })),
    [ofRuns, data],
  );
  if (error !== undefined) return <ErrorNote error={error} onRetry={reload} />;
  if (tables.length > 0 && data === undefined) return <Skeleton height={`${HEIGHT}px`} />;
  const title = `${PICTURE_NAMES[kind]} of ${label}`;
  if (kind === "confusion") return <Matrices title={title} ofRuns={withRows} isQuiet={isQuiet} />;
  return <Curves kind={kind} title={title} ofRuns={withRows} isQuiet={isQuiet} />;
}

type PartProps = { readonly title: string; readonly ofRuns: readonly ObjectOfRun[]; readonly isQuiet: boolean };

function Curves({ kind, title, ofRuns, isQuiet }: PartProps & { readonly kind: CurveKind }) {
  const { theme } = pageInks.value;
  const colors = ofRuns.map(({ run: { id } }) => lineInk(id, theme));
  const curves = useMemo(
    () => curvesOfRuns(kind, ofRuns, (id) => lineInk(id, theme)),
    [kind, ofRuns, theme, colors.join()],
  );
  if (curves.length === 0) return isQuiet ? null : <p class="tm-muted">{`No ${PICTURE_NAMES[kind]} here.`}</p>;
  return <CurveChart kind={kind} title={title} curves={curves} height={HEIGHT} />;
}

function Matrices({ title, ofRuns, isQuiet }: PartProps) {
  const found = ofRuns.flatMap((one) => {
    const confusion = confusionOf(one);
    return confusion === undefined ? [] : [{ run: one.run, confusion }];
  });
  if (found.length === 0) return isQuiet ? null : <p class="tm-muted">No confusion matrix here.</p>;
  if (ofRuns.length === 1) return <ConfusionMatrix title={title} confusion={found[0]!.confusion} />;
  return (
    <div class="tm-matrices">
      {found.map((one) => (
        <section key={one.run.id} aria-label={one.run.name}>
          <h4>
            <RunSwatch runId={one.run.id} /> {one.run.name}
          </h4>
          <ConfusionMatrix title={`${title}, ${one.run.name}`} confusion={one.confusion} />
        </section>
      ))}
    </div>
  );
}
