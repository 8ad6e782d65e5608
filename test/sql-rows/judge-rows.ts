import type { Column } from "./describe-statements.ts";

/** A member of the type of rows in TypeScript. */
export type RowMember = {
  readonly name: string;
  /** Its types without null and undefined: `string`, `number`, `boolean`, `bytes`, lists such as `string[]`, or others as TypeScript prints them. */
  readonly kinds: readonly string[];
  readonly isOptional: boolean;
  readonly isNullable: boolean;
};

/** Compares the type of rows with the columns that the statement with this text returns. Columns that the type leaves out are not read. */
export function judgeRows(text: string, columns: readonly Column[], members: readonly RowMember[]): readonly string[] {
  const byName = new Map(columns.map((column) => [column.name, column]));
  return members.flatMap(({ name, kinds, isOptional, isNullable }) => {
    const column = byName.get(name);
    if (column === undefined) return isOptional ? [] : [`${name} is not returned`];
    if (kinds.some((kind) => kind !== column.kind)) return [`${name} is ${column.kind}, not ${kinds.join(" or ")}`];
    if (column.nullableAs === undefined || isNullable || isCompared(text, column.nullableAs)) return [];
    return [`${name} may be NULL`];
  });
}

/** Returns whether a statement compares or sets a column in a way that leaves out NULL. Looks at the name only: it rather believes too much. */
function isCompared(text: string, column: string): boolean {
  return new RegExp(String.raw`\b${column} (?:IS NOT NULL|[=<>]+ )`).test(text);
}
