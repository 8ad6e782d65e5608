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

const quoted = new Map<string, string>();

/** A property's name as JSON. Nearly all are a codec's own words, written again and again. */
function quote(name: string): string {
  let text = quoted.get(name);
  if (text === undefined) {
    text = JSON.stringify(name);
    if (quoted.size < 2000) quoted.set(name, text);
  }
  return text;
}

/** Writes JSON. Like JSON.stringify, but raw parts keep every digit they came with. */
export function writeJson(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value as readonly Json[]) items += items === "" ? writeJson(item) : `,${writeJson(item)}`;
    return `[${items}]`;
  }
  let members = "";
  for (const [name, part] of Object.entries(value as { readonly [key: string]: Json | undefined })) {
    if (part === undefined) continue;
    members += members === "" ? `${quote(name)}:${writeJson(part)}` : `,${quote(name)}:${writeJson(part)}`;
  }
  return `{${members}}`;
}
