/** The two first lines of a Markdown table. */
export function tableHead(titles: readonly string[]): string {
  return `${tableRow(titles)}\n|${"---|".repeat(titles.length)}`;
}

/** One line of a Markdown table. */
export function tableRow(cells: readonly (string | number)[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** A number with so many digits and commas between the thousands; empty when there is none. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value)
    ? value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : "";
}
