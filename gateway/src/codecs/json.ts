/** Text that is JSON already and goes into the answer as it is: documents, long columns of points. */
export class RawJson {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What an answer can be made of. Absent properties (`undefined`) are left out. */
export type Json =
  | null
  | boolean
  | number
  | string
  | RawJson
  | readonly Json[]
  | { readonly [key: string]: Json | undefined };

/** Marks a text as JSON; the caller vouches that it is. */
export function raw(text: string): RawJson {
  return new RawJson(text);
}

/** Writes JSON. Like JSON.stringify, but raw parts keep every digit they came with. */
export function writeJson(value: Json): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(writeJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const parts: string[] = [];
    for (const [key, part] of Object.entries(value)) {
      if (part !== undefined) parts.push(`${JSON.stringify(key)}:${writeJson(part)}`);
    }
    return `{${parts.join(",")}}`;
  }
  return JSON.stringify(value);
}
