import { useState } from "preact/hooks";
import { exactJson, valueText, type ExactValue } from "../api/exact-json.ts";
import { useQuery } from "../api/use-answer.ts";
import { Button } from "../ui/button.tsx";
import { ErrorNote } from "../ui/page-states.tsx";
import { Skeleton } from "../ui/spinner.tsx";

const PAGE = 50;

type Rows = {
  readonly rows: readonly { readonly row_index: number; readonly row: { readonly [key: string]: ExactValue } }[];
};

/** The rows of a logged table, a page at a time. */
export function TableRows({ objectId, label }: { readonly objectId: number; readonly label: string }) {
  const [page, setPage] = useState(0);
  // One row more than is shown reveals whether there is another page.
  const read = useQuery<Rows>(`/api/objects/${objectId}/rows?limit=${PAGE + 1}&offset=${page * PAGE}`, { exact: true });
  const rows = read.data?.rows.slice(0, PAGE) ?? [];
  const hasMore = (read.data?.rows.length ?? 0) > PAGE;
  const columns = [...new Set(rows.flatMap(({ row }) => Object.keys(row)))];
  if (read.error !== undefined) return <ErrorNote error={read.error} onRetry={read.reload} />;
  if (read.data === undefined) return <Skeleton lines={6} height="22px" />;
  return (
    <>
      <div class="tm-scroll-x tm-object-table" role="region" aria-label={label} tabIndex={0}>
        <table class="tm-list-table">
          <thead>
            <tr>
              <th scope="col" class="tm-number">
                Row
              </th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ row_index: index, row }) => (
              <tr key={index}>
                <td class="tm-number tm-muted">{index}</td>
                {columns.map((column) => (
                  <td key={column} class={typeof row[column] === "number" ? "tm-number" : ""}>
                    {cellText(row[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(page > 0 || hasMore) && (
        <p class="tm-form-row">
          <Button size="s" icon="chevron-left" disabled={page === 0} onClick={() => setPage(page - 1)}>
            Previous rows
          </Button>
          <Button size="s" icon="chevron-right" disabled={!hasMore} onClick={() => setPage(page + 1)}>
            Next rows
          </Button>
        </p>
      )}
    </>
  );
}

function cellText(value: ExactValue | undefined): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? exactJson(value) : valueText(value);
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}
