import type { ComponentChildren } from "preact";

/** A plain table that scrolls within itself where it is wider than the screen. */
export function DataTable({
  label,
  columns,
  numbers = [],
  children,
}: {
  readonly label: string;
  readonly columns: readonly string[];
  /** Columns whose cells are aligned to the end, as numbers are. */
  readonly numbers?: readonly string[];
  readonly children: ComponentChildren;
}) {
  return (
    <div class="tm-data" tabIndex={0} role="region" aria-label={label}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col" class={numbers.includes(column) ? "tm-number" : undefined}>
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
