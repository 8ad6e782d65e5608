import type { ComponentChildren } from "preact";
import { Badge } from "../ui/status-badge.tsx";
import { EvaluationCard } from "./evaluation-card.tsx";
import { barsOf, readHistogram } from "./histogram-bars.ts";
import type { RichObject } from "./steps.ts";
import { TableRows } from "./table-rows.tsx";

/** The object logged under a key, at a step. `name` heads it, after `mark`; `label` names the content for people who do not see it. */
export function ObjectCard({
  name,
  label = name,
  mark,
  object,
  step,
}: {
  readonly name: string;
  readonly label?: string;
  readonly mark?: ComponentChildren;
  readonly object: RichObject;
  readonly step: number | undefined;
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
      <Content label={label} object={object} />
      {typeof object.metadata["caption"] === "string" && <p class="tm-muted">{object.metadata["caption"]}</p>}
    </figure>
  );
}

const stepWords = (step: number): string => step.toLocaleString("en-US");

function Content({ label, object }: { readonly label: string; readonly object: RichObject }) {
  if (object.kind === "table") return <TableRows objectId={object.id} label={`Rows of ${label}`} />;
  if (object.kind === "histogram") return <HistogramPlot object={object} />;
  if (object.kind === "classification_eval") return <EvaluationCard value={object.value} />;
  const { artifact } = object;
  if (artifact === null) return <p class="tm-muted">Its file was deleted.</p>;
  if (artifact.storage_backend === "external") return <p class="tm-muted">Its file is not on this server.</p>;
  const address = `/api/artifacts/${artifact.id}/download`;
  // These elements run no scripts of any file, including SVG.
  if (object.kind === "video")
    return <video key={artifact.id} src={address} controls preload="metadata" aria-label={label} />;
  if (object.kind === "audio")
    return <audio key={artifact.id} src={address} controls preload="none" aria-label={label} />;
  return (
    <a href={address} download={artifact.name} title="Download the image">
      <img
        key={artifact.id}
        src={address}
        alt={`${label}${object.step === null ? "" : ` at step ${object.step}`}`}
        loading="lazy"
      />
    </a>
  );
}

const WIDTH = 320;
const HEIGHT = 160;

function HistogramPlot({ object }: { readonly object: RichObject }) {
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
        {barsOf(histogram, WIDTH, HEIGHT).map(({ x, y, width, height, words: bar }, i) => (
          <rect key={i} x={x} y={y} width={width} height={height}>
            <title>{bar}</title>
          </rect>
        ))}
      </svg>
      <p class="tm-histogram-axis">
        <span>{Number(from.toPrecision(4))}</span>
        <span>{Number(to.toPrecision(4))}</span>
      </p>
    </>
  );
}
