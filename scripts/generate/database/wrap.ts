/** Longest line, in characters. */
const LINE_MAX = 120;

/** Breaks a long statement after commas, at 120 characters; the lines after the first are indented. */
export function wrap(statement: string, indent = "  "): string {
  const [first = "", ...rest] = fill(statement.split(/(?<=,) /), LINE_MAX - indent.length, LINE_MAX);
  return [first, ...rest.map((line) => indent + line)].join("\n");
}

/** Returns a text as SQL comment lines of at most 120 characters. */
export function comment(text: string | null, indent = ""): readonly string[] {
  if (text === null) return [];
  const lead = `${indent}-- `;
  return text.split("\n").flatMap((line) => fill(line.split(" "), LINE_MAX - lead.length).map((part) => lead + part));
}

/** Joins parts by blanks into lines of at most `max` characters, the first of at most `firstMax`; a longer part has a line to itself. */
function fill(parts: readonly string[], max: number, firstMax = max): string[] {
  const [first = "", ...rest] = parts;
  const lines = [first];
  for (const part of rest) {
    const line = lines.at(-1) ?? "";
    const most = lines.length === 1 ? firstMax : max;
    if (line.length + 1 + part.length > most) lines.push(part);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines;
}
