import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { query } from "../api/queries.ts";
import type { ExactValue } from "../api/exact-value.ts";
import { Grid, usualRowHeight } from "../table/grid.tsx";
import type { GridColumn, GridProps } from "../table/grid-types.ts";
import { createPages } from "../table/pages.ts";
import { ErrorNote } from "../ui/page-states.tsx";
import { TextField } from "../ui/field.tsx";
import { useSettled } from "../ui/use-settled.ts";
import { counted } from "../ui/words.ts";
import { Picture } from "./picture.tsx";
import type { RichObject } from "./steps.ts";
import { tableCell, type TableCell } from "./table-cells.ts";

type Row = { readonly row_index: number; readonly row: { readonly [key: string]: ExactValue } };
type Answer = { readonly rows: readonly Row[]; readonly total?: number };
type Sort = NonNullable<GridProps<Row>["sort"]>;

/** Tables of more rows can be searched and filtered. */
const ROWS_FEW = 5;
const WIDTHS = { number: 120, text: 240, media: 150 } as const;
const MEDIA_HEIGHT = 96;
const HEIGHT_MAX = 460;

/** The rows of a logged table, which are read where they are seen: sorted, filtered and searched by the server. */
export function ObjectTable({ object, label }: { readonly object: RichObject; readonly label: string }) {
  const [sort, setSort] = useState<Sort>();
  const [text, setText] = useState("");
  const [filter, setFilter] = useState("");
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({});
  const [, redraw] = useState(0);
  const wish = useSettled(JSON.stringify({ sort, text: text.trim(), filter: filter.trim() }));
  const stated = Number(object.summary["row_count"]);
  const pages = useMemo(
    () =>
      createPages<Row>(
        (offset, limit, signal) => readRows(object.id, stated, wish, { offset, limit, signal }),
        () => redraw((n) => n + 1),
      ),
    [object.id, stated, wish],
  );
  useEffect(() => {
    pages.load();
    return pages.end;
  }, [pages]);

  const total = pages.total();
  // The place of the rows stays while others are read.
  const lastTotal = useRef(stated);
  if (total !== undefined) lastTotal.current = total;
  const seen = pages.find(() => true).map((index) => pages.row(index)!);
  const named = Array.isArray(object.summary["columns"]) ? object.summary["columns"].map(String) : [];
  const names = [...new Set([...named, ...seen.flatMap(({ row }) => Object.keys(row))])];
  const numeric = new Set(names.filter((name) => seen.some(({ row }) => tableCell(row[name]).kind === "number")));
  const media = new Set(names.filter((name) => seen.some(({ row }) => isMedia(tableCell(row[name])))));
  const columns = useMemo(
    () => [
      rowColumn,
      ...names.map((name): GridColumn<Row> => ({
        id: `column ${name}`,
        label: name,
        width: widths[name] ?? WIDTHS[media.has(name) ? "media" : numeric.has(name) ? "number" : "text"],
        align: numeric.has(name) ? "end" : "start",
        sortable: true,
        cell: ({ row, row_index: index }) => <Cell cell={tableCell(row[name])} label={`${name} of row ${index}`} />,
      })),
    ],
    [names.join("\n"), [...numeric].join("\n"), [...media].join("\n"), widths],
  );
  const rowHeight = media.size > 0 ? MEDIA_HEIGHT : usualRowHeight();
  const rows = total ?? 0;
  const height = Math.min(HEIGHT_MAX, usualRowHeight() + rowHeight * Math.max(lastTotal.current || 0, 1) + 16);
  const isSmall = stated <= ROWS_FEW;
  return (
    <>
      {!isSmall && (
        <div class="tm-form-row">
          <TextField
            label={`Search ${label}`}
            hideLabel
            type="search"
            placeholder="Search rows"
            value={text}
            onInput={setText}
          />
          <TextField
            label={`Filter ${label}`}
            hideLabel
            mono
            placeholder="Filter: loss<0.5"
            value={filter}
            onInput={setFilter}
          />
          <span class="tm-muted" role="status">
            {total !== undefined && counted(total, "row")}
          </span>
        </div>
      )}
      <ErrorNote error={pages.error()} onRetry={pages.refresh} />
      <div class="tm-object-grid" style={{ height: `${height}px` }}>
        <Grid
          label={label}
          columns={columns}
          rows={rows}
          rowAt={pages.row}
          idOf={({ row_index: index }) => String(index)}
          rowHeight={rowHeight}
          sort={sort}
          onSort={(column) => setSort(nextSort(sort, column))}
          onResize={(column, width) => setWidths({ ...widths, [nameOf(column)]: width })}
          onWindow={pages.show}
        />
      </div>
    </>
  );
}

const rowColumn: GridColumn<Row> = {
  id: "row",
  label: "Row",
  width: 72,
  pinned: true,
  align: "end",
  isRowHeader: true,
  cell: ({ row_index: index }) => <span class="tm-muted">{index}</span>,
};

const nameOf = (column: string): string => column.slice("column ".length);

/** Upwards, downwards, then as it was logged. */
function nextSort(sort: Sort | undefined, column: string): Sort | undefined {
  if (sort?.column !== column) return { column, direction: "asc" };
  return sort.direction === "asc" ? { column, direction: "desc" } : undefined;
}

const isMedia = (cell: TableCell): boolean => "address" in cell;

function Cell({ cell, label }: { readonly cell: TableCell; readonly label: string }) {
  if (!("address" in cell)) {
    return (
      <span class="tm-grid-text" title={cell.full ?? cell.text}>
        {cell.text}
      </span>
    );
  }
  const words = cell.text === "" ? label : cell.text;
  if (cell.kind === "audio") return <audio src={cell.address} controls preload="none" aria-label={words} />;
  if (cell.kind === "video") return <video src={cell.address} controls preload="metadata" aria-label={words} />;
  return <Picture address={cell.address} label={words} />;
}

async function readRows(
  objectId: number,
  stated: number,
  wish: string,
  { offset, limit, signal }: { readonly offset: number; readonly limit: number; readonly signal: AbortSignal },
): Promise<{ readonly rows: readonly Row[]; readonly total: number }> {
  const { sort, text, filter } = JSON.parse(wish) as { sort?: Sort; text: string; filter: string };
  const parameters = new URLSearchParams({
    limit: String(limit),
    offset: String(offset),
    ...(sort === undefined ? {} : { sort_by: nameOf(sort.column), sort_dir: sort.direction }),
    ...(text === "" ? {} : { q: text }),
    ...(filter === "" ? {} : { filter }),
  });
  const { rows, total } = await query<Answer>(`/api/objects/${objectId}/rows?${parameters.toString()}`, { signal });
  // A table that is not sorted or filtered has the rows that its summary says, or where its client said another number those that are found.
  const found = offset + rows.length;
  return {
    rows,
    total: total ?? (rows.length < limit ? found : Math.max(found, Number.isFinite(stated) ? stated : 0)),
  };
}
