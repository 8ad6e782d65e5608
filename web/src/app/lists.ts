/** Joins texts by commas; commas and backslashes within them have a backslash before them. Blank lists are undefined. */
export function joinList(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.map((text) => text.replace(/[\\,]/g, "\\$&")).join(",");
}

/** Reads what `joinList` wrote, empty texts in their places; the empty text is not a list. */
export function listParts(text: string): string[] {
  if (text === "") return [];
  const texts = [""];
  for (let i = 0; i < text.length; i += 1) {
    const character = text[i]!;
    if (character === ",") texts.push("");
    else texts[texts.length - 1] += character === "\\" && i + 1 < text.length ? text[(i += 1)]! : character;
  }
  return texts;
}

/** Reads what `joinList` wrote; empty and repeated texts are left out. */
export function splitList(text: string | null): string[] {
  return [...new Set(listParts(text ?? ""))].filter((one) => one !== "");
}
