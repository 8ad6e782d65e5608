import type { ComponentChildren, RefObject } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../../ui/button.tsx";
import { attempt } from "../../ui/fault.ts";
import { saveFile } from "../../ui/save-file.ts";
import { Stage } from "../columns/stage.tsx";
import { shortNumber } from "../scene/numbers.ts";
import type { Scene } from "../scene/scene.ts";
import { csvOfSheet, rowsToRead, type Sheet, type SheetCell } from "./sheet.ts";

/** Pixels of the table that stands for a picture. */
const TABLE_MIN = 220;

/** A picture that can be read as a table and saved as PNG, SVG and CSV. */
export function Figure({
  title,
  sheet,
  height,
  ...stage
}: {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly title: string;
  /** Its content, in a sentence. */
  readonly summary: string;
  readonly scene: Scene | undefined;
  /** Exactly what is drawn. */
  readonly sheet: Sheet;
  readonly height: number;
  readonly announced: string;
  readonly notes?: readonly string[];
  readonly onPoint: (left: number, top: number) => void;
  readonly onLeave?: () => void;
  readonly onPress?: (left: number, top: number) => void;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
}) {
  const [asTable, setAsTable] = useState(false);
  const buttons = (
    <>
      <CsvButton title={title} sheet={sheet} />
      <Button
        kind="quiet"
        size="s"
        icon={asTable ? "chart" : "table"}
        aria-pressed={asTable}
        onClick={() => setAsTable(!asTable)}
      >
        Table
      </Button>
    </>
  );
  if (!asTable)
    return (
      <Stage title={title} height={height} {...stage}>
        {stage.scene !== undefined && buttons}
      </Stage>
    );
  return (
    <figure class="tm-stage" ref={stage.place}>
      <SheetTable title={title} sheet={sheet} height={Math.max(height, TABLE_MIN)} />
      <figcaption>
        <span>{stage.notes?.join(". ")}</span>
        {buttons}
      </figcaption>
    </figure>
  );
}

/** Saves the values of a picture. */
export function CsvButton({ title, sheet }: { readonly title: string; readonly sheet: Sheet }) {
  return (
    <Button
      kind="quiet"
      size="s"
      icon="download"
      onClick={() => void attempt(() => Promise.resolve(saveFile([csvOfSheet(sheet)], `${title}.csv`, "text/csv")))}
    >
      CSV
    </Button>
  );
}

function SheetTable({
  title,
  sheet,
  height,
}: {
  readonly title: string;
  readonly sheet: Sheet;
  readonly height: number;
}) {
  const { rows, left } = rowsToRead(sheet);
  // Ids tell lines of a file apart; people have the names.
  const columns = sheet.head.flatMap((name, i) => (name === "id" ? [] : [i]));
  return (
    <div
      class="tm-chart-table"
      style={{ height: `${height}px` }}
      tabIndex={0}
      role="region"
      aria-label={`Values of ${title}`}
    >
      <table>
        <caption class="tm-chart-hidden">{title}</caption>
        <thead>
          <tr>
            {columns.map((i) => (
              <th key={i} scope="col">
                {sheet.head[i]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((i, n) =>
                n === 0 ? (
                  <th key={i} scope="row">
                    {words(row[i])}
                  </th>
                ) : (
                  <td key={i}>{words(row[i])}</td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {left !== "" && <p>{left}</p>}
    </div>
  );
}

const words = (value: SheetCell): ComponentChildren => (typeof value === "number" ? shortNumber(value) : value);
