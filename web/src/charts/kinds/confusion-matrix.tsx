import { Button } from "../../ui/button.tsx";
import { attempt } from "../../ui/fault.ts";
import { readableOn } from "../look/contrast.ts";
import { shortName } from "../scene/names.ts";
import { rampColor } from "../scene/scale.ts";
import { pageInks } from "../view/canvas-stage.ts";
import { CLASS_NAME_MAX, confusionScene } from "./confusion-scene.ts";
import { CLASSES_MAX, confusionSheet, rowShares, shareText, type Confusion } from "./confusion.ts";
import { CsvButton } from "./figure.tsx";

/** A confusion matrix as a table. The color of a cell says which share of its row it has. */
export function ConfusionMatrix({ title, confusion }: { readonly title: string; readonly confusion: Confusion }) {
  const { labels, counts } = confusion;
  if (labels.length > CLASSES_MAX)
    return (
      <p class="tm-muted">{`A matrix of ${labels.length} classes is too large to draw; at most ${CLASSES_MAX} are.`}</p>
    );
  const shares = rowShares(confusion);
  return (
    <figure class="tm-stage">
      <div class="tm-confusion" role="region" aria-label={title} tabIndex={0}>
        <table>
          <caption>Rows: actual, columns: predicted; % of the row</caption>
          <thead>
            <tr>
              <td />
              {labels.map((label) => (
                <th key={label} scope="col" title={label}>
                  {shortName(label, CLASS_NAME_MAX)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {counts.map((row, i) => (
              <tr key={labels[i]}>
                <th scope="row" title={labels[i]}>
                  {shortName(labels[i]!, CLASS_NAME_MAX)}
                </th>
                {row.map((count, j) => {
                  const fill = rampColor(shares[i]![j]!);
                  return (
                    <td key={labels[j]} style={{ background: fill, color: readableOn(fill) }}>
                      <strong>{count.toLocaleString("en-US")}</strong> <span>{shareText(shares[i]![j]!)}</span>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <figcaption>
        <span />
        {(["PNG", "SVG"] as const).map((kind) => (
          <Button
            key={kind}
            kind="quiet"
            size="s"
            icon="download"
            onClick={() =>
              void attempt(async () => {
                const { downloadScene } = await import("../section/downloads.ts");
                const inks = pageInks.peek();
                downloadScene(confusionScene(confusion, inks), { title, legend: undefined }, inks, kind);
              })
            }
          >
            {kind}
          </Button>
        ))}
        <CsvButton title={title} sheet={confusionSheet(confusion)} />
      </figcaption>
    </figure>
  );
}
