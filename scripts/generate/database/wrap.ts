/** Breaks a long statement after commas, at 120 characters; what follows the first line is indented. */
export function wrap(statement: string, indent = "  "): string {
  const [first = "", ...rest] = statement.split(/(?<=,) /);
  const lines = [first];
  for (const part of rest) {
    const line = lines.at(-1) ?? "";
    if (line.length + 1 + part.length > 120) lines.push(indent + part);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines.join("\n");
}

/** A text as SQL comment lines. */
export function comment(text: string | null, indent = ""): readonly string[] {
  return text === null ? [] : text.split("\n").map((line) => `${indent}-- ${line}`);
}
