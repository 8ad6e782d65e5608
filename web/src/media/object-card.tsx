import type { ComponentChildren } from "preact";
import { Badge } from "../ui/status-badge.tsx";
import { barsOf, readHistogram, type HistogramRange } from "./histogram-bars.ts";
import { ClassifierOf } from "../panels/lazy-pictures.tsx";
import { ObjectTable } from "./object-table.tsx";
import { Picture } from "./picture.tsx";
import type { RichObject } from "./steps.ts";
import { pictureOfTable } from "./table-picture.ts";

/** The object logged under a key, at a step. `name` heads it, after `mark`; `label` names the content for people who do not see it. */
export function ObjectCard({
  name,
  label = name,
  mark,
  object,
  step,
  range,
  withoutCurves = false,
}: {
  readonly name: string;
  readonly label?: string;
  readonly mark?: ComponentChildren;
  readonly object: RichObject;
  readonly step: number | undefined;
  /** The range of the horizontal axis of histograms; undefined: that of each. */
  readonly range?: HistogramRange | undefined;
  /** Leaves out the curves of classifiers, which are drawn together with those of other runs. */
  readonly withoutCurves?: boolean;
}) {
  const isWide = object.kind === "table" || object.kind === "classification_eval";
  return (
    <figure class={isWide ? "tm-object tm-object-wide" : "tm-object"} data-step={object.step ?? ""}>
      <figcaption>
        {mark} <span class="tm-object-key">{name}</span>
        <Badge>{object.kind === "classification_eval" ? "evaluation" : object.kind}</Badge>
        {object.step !== null && (
          <span class="tm-muted">
            {`step ${stepWords(object.step)}`}
            {step !== undefined && object.step !== step && `, nothing at ${stepWords(step)}`}
          </span>
        )}
      </figcaption>
      <Content label={label} object={object} range={range} withoutCurves={withoutCurves} />
      {typeof object.metadata["caption"] === "string" && <p class="tm-muted">{object.metadata["caption"]}</p>}
    </figure>
  );
}

const stepWords = (step: number): string => step.toLocaleString("en-US");

function Content({
  label,
  object,
  range,
  withoutCurves,
}: {
  readonly label: string;
  readonly object: RichObject;
  readonly range: HistogramRange | undefined;
  readonly withoutCurves: boolean;
}) {
  if (object.kind === "table")
    return (
      <>
        {pictureOfTable(object) !== undefined && (
          <ClassifierOf label={label} object={object} withoutCurves={withoutCurves} />
        )}
        <ObjectTable object={object} label={`Rows of ${label}`} />
      </>
    );
  if (object.kind === "histogram") return <HistogramPlot object={object} range={range} />;
  if (object.kind === "classification_eval")
    return <EvaluationCard label={label} object={object} withoutCurves={withoutCurves} />;
  const { artifact } = object;
  if (artifact === null) return <p class="tm-muted">Its file was deleted.</p>;
  if (artifact.storage_backend === "external") return <p class="tm-muted">Its file is not on this server.</p>;
  const address = `/api/artifacts/${artifact.id}/download`;
  // These elements run no scripts of any file, including SVG.
  if (object.kind === "video")
    return <video key={artifact.id} src={address} controls preload="metadata" aria-label={label} />;
  if (object.kind === "audio")
    return <audio key={artifact.id} src={address} controls preload="none" aria-label={label} />;
  const words = `${label}${object.step === null ? "" : ` at step ${object.step}`}`;
  return <Picture address={address} label={words} name={artifact.name} />;
}

const WIDTH = 320;
const HEIGHT = 160;

function HistogramPlot({ object, range }: { readonly object: RichObject; readonly range: HistogramRange | undefined }) {
  const histogram = readHistogram(object.value);
  if (histogram === undefined) return <p class="tm-muted">This histogram cannot be read.</p>;
  const total = histogram.counts.reduce((sum, count) => sum + count, 0);
  const from = histogram.edges[0]!;
  const to = histogram.edges.at(-1)!;
  const words = `Histogram of ${Number(total.toPrecision(6))} values from ${from} to ${to}`;
  return (
    <>
      <svg
        class="tm-histogram"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={words}
        preserveAspectRatio="none"
      >
        {barsOf(histogram, WIDTH, HEIGHT, range).map(({ x, y, width, height, words: bar }, i) => (
          <rect key={i} x={x} y={y} width={width} height={height}>
            <title>{bar}</title>
          </rect>
        ))}
      </svg>
      <p class="tm-histogram-axis">
        <span>{Number((range?.from ?? from).toPrecision(4))}</span>
        <span>{Number((range?.to ?? to).toPrecision(4))}</span>
      </p>
    </>
  );
}

/** The outcome of a classification: its figures, what was taken for what, and its curves. */
function EvaluationCard(props: {
  readonly label: string;
  readonly object: RichObject;
  readonly withoutCurves: boolean;
}) {
  const { object } = props;
  const value = (object.value ?? {}) as Readonly<Record<string, unknown>>;
  const figures = [
    ["Samples", value["sample_count"]],
    ["Accuracy", value["accuracy"]],
    ["Macro F1", value["macro_f1"]],
    ["Threshold", value["threshold"]],
  ] as const;
  return (
    <>
      <dl class="tm-evaluation">
        {figures.map(
          ([name, figure]) =>
            typeof figure === "number" && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{Number(figure.toPrecision(5)).toLocaleString("en-US", { maximumFractionDigits: 4 })}</dd>
              </div>
            ),
        )}
      </dl>
      <ClassifierOf {...props} />
    </>
  );
}
