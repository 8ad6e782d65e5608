/** A table in Markdown with its columns aligned, as the formatter leaves it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill = " "): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(" | ")} |`;
  const rule = head.map(() => "");
  return [line(head), line(rule, "-"), ...rows.map((row) => line(row))].join("\n");
}
