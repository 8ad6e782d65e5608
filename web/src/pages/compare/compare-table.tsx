import { RunSwatch } from "../../charts/index.ts";
import { Link } from "../../app/location.tsx";
import { runAddress } from "../../app/addresses.ts";
import { Grid } from "../../table/grid.tsx";
import type { GridColumn } from "../../table/grid-types.ts";
import { Breakable } from "../../ui/breakable.tsx";
import { IconButton } from "../../ui/button.tsx";
import { settingWords, valueWords } from "../project/table/columns.ts";
import { useIsNarrow } from "../../ui/use-width.ts";
import { deltaOf, type CompareRow, type Direction } from "./compare-rows.ts";

/** Pixels next to the columns. */
const SCROLLBAR = 16;

/** A run of the comparison. */
export type ComparedRun = {
  readonly id: string;
  readonly name: string;
  readonly started_at: string;
  readonly status: string;
  readonly forked_from_step?: number | null;
};

/** Returns the default widths of columns: wide enough for long keys and names, if there is room for them. */
function usualWidths(width: number, runs: number, isNarrow: boolean): { readonly key: number; readonly run: number } {
  if (isNarrow) return { key: 150, run: 160 };
  const key = Math.min(360, Math.max(220, Math.floor(width * 0.28)));
  const each = Math.floor((width - key - SCROLLBAR) / Math.max(1, runs));
  return { key, run: Math.min(280, Math.max(160, each)) };
}

/** A line for each key, a column for each run. */
export function CompareTable({
  project,
  runs,
  rows,
  base,
  directionOf,
  width,
  widths,
  onResize,
  onBase,
  onDirection,
}: {
  readonly project: string;
  readonly runs: readonly ComparedRun[];
  readonly rows: readonly CompareRow[];
  readonly base: string;
  /** Whether more or less of a metric is better, where that is known. */
  readonly directionOf: (metric: string) => Direction | undefined;
  /** Pixels that there are for all columns. */
  readonly width: number;
  /** Widths of columns that a person chose. */
  readonly widths: Readonly<Record<string, number>>;
  readonly onResize: (column: string, width: number) => void;
  readonly onBase: (id: string) => void;
  readonly onDirection: (metric: string, direction: Direction) => void;
}) {
  const isNarrow = useIsNarrow();
  const usual = usualWidths(width, runs.length, isNarrow);
  const baseAt = runs.findIndex(({ id }) => id === base);
  const columns: GridColumn<CompareRow>[] = [
    {
      id: "key",
      label: "Key",
      width: widths["key"] ?? usual.key,
      pinned: true,
      isRowHeader: true,
      cell: (row) => <KeyCell row={row} directionOf={directionOf} onDirection={onDirection} />,
    },
    ...runs.map((run, i): GridColumn<CompareRow> => ({
      id: run.id,
      label: run.name,
      width: widths[run.id] ?? usual.run,
      align: "end",
      head: (
        <>
          <RunSwatch runId={run.id} />
          <Link class="tm-grid-text tm-run-link" href={runAddress(project, run.id)} tabIndex={-1}>
            {run.name}
          </Link>
          <IconButton
            icon="flag"
            size="s"
            label={run.id === base ? `${run.name} is the baseline` : `Make ${run.name} the baseline`}
            pressed={run.id === base}
            tabIndex={-1}
            onClick={() => onBase(run.id)}
          />
        </>
      ),
      cell: (row) => (
        <ValueCell
          value={row.values[i]}
          isMetric={row.metric !== undefined}
          base={i === baseAt ? undefined : row.values[baseAt]}
          direction={row.metric === undefined ? undefined : directionOf(row.metric)}
        />
      ),
    })),
  ];
  return (
    <Grid
      label="Comparison"
      columns={columns}
      rows={rows.length}
      rowAt={(index) => rows[index]}
      idOf={({ part, label }) => `${part} ${label}`}
      onResize={onResize}
      rowClass={({ different }) => different && "tm-row-different"}
    />
  );
}

function KeyCell({
  row,
  directionOf,
  onDirection,
}: {
  readonly row: CompareRow;
  /** Whether more or less of a metric is better, where that is known. */
  readonly directionOf: (metric: string) => Direction | undefined;
  readonly onDirection: (metric: string, direction: Direction) => void;
}) {
  const { part, label, metric } = row;
  const direction = metric === undefined ? undefined : directionOf(metric);
  return (
    <>
      <span class="tm-grid-text tm-compare-name" title={`${part}: ${label}`}>
        <span class="tm-muted tm-compare-part">{part}</span>{" "}
        <span class="tm-compare-label">
          <Breakable text={label} />
        </span>
      </span>
      {metric !== undefined && (
        <IconButton
          icon={direction === "min" ? "arrow-down" : direction === "max" ? "arrow-up" : "help"}
          size="s"
          label={
            direction === undefined
              ? `Mark higher ${metric} as better`
              : `${direction === "max" ? "Higher" : "Lower"} ${metric} is better. Press to reverse.`
          }
          tabIndex={-1}
          onClick={() => onDirection(metric, direction === "max" ? "min" : "max")}
        />
      )}
    </>
  );
}

function ValueCell({
  value,
  isMetric,
  base,
  direction,
}: {
  readonly value: unknown;
  readonly isMetric: boolean;
  readonly base: unknown;
  readonly direction: Direction | undefined;
}) {
  const text = isMetric ? valueWords(value) : settingWords(value);
  const delta = deltaOf(value, base, direction);
  return (
    <span class="tm-grid-text" title={text}>
      {text === "" ? <span class="tm-muted">–</span> : text}
      {delta !== undefined && delta.text !== "±0" && (
        <span class={`tm-compare-delta tm-compare-${delta.tone}`}>
          {" "}
          {delta.text}
          {delta.tone !== "even" && <span class="tm-hidden"> ({delta.tone} than the baseline)</span>}
        </span>
      )}
    </span>
  );
}
