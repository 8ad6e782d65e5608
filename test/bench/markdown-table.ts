/** The two first lines of a Markdown table. */
export function tableHead(titles: readonly string[]): string {
  return `${tableRow(titles)}\n|${"---|".repeat(titles.length)}`;
}

/** One line of a Markdown table. */
export function tableRow(cells: readonly (string | number)[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Prints a number with this many decimals and commas between the thousands; the empty text when there is none. */
export function shown(value: number, digits = 0): string {
  return Number.isFinite(value)
    ? value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })
    : "";
}
