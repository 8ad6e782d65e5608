import { columnTypes, type Statement } from "@tidemark/pg";
import type { Client, Connection, FieldDef, Submittable } from "pg";

/** A column of a result as the server describes it and the driver returns it. */
export type Column = {
  readonly name: string;
  /** Its type in TypeScript, see `RowMember`. */
  readonly kind: string;
  /** The column of a table that it is, if that may be NULL; undefined for others, and for expressions, functions and views. */
  readonly nullableAs: string | undefined;
};

/** Returns the columns of the result of each statement, by its name, without running it. @throws Error of the server for a wrong statement */
export async function describeStatements(
  client: Client,
  statements: readonly Statement[],
): Promise<ReadonlyMap<string, readonly Column[]>> {
  const nullable = await readNullable(client);
  const described = new Map<string, readonly Column[]>();
  for (const { name, text, rows } of statements) {
    const fields = await fieldsOf(client, text);
    described.set(
      name,
      fields.map((field) => ({
        name: field.name,
        kind: kindOf(field.dataTypeID, rows),
        nullableAs: nullable.get(`${field.tableID}.${field.columnID}`),
      })),
    );
  }
  return described;
}

/** The driver's callbacks of a query, which its declarations do not have. */
type Description = Submittable & {
  handleRowDescription(message: { readonly fields: readonly FieldDef[] }): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
};

function fieldsOf(client: Client, text: string): Promise<readonly FieldDef[]> {
  return new Promise((resolve, reject) => {
    let fields: readonly FieldDef[] = [];
    client.query<Description>({
      submit(connection: Connection) {
        connection.parse({ name: "", text, types: [] }, true);
        connection.describe({ type: "S", name: "" }, true);
        connection.sync();
      },
      handleRowDescription: (message) => (fields = message.fields),
      handleReadyForQuery: () => resolve(fields),
      handleError: (error) => reject(new Error(`${error.message}: ${text}`)),
    });
  });
}

/** Returns what the driver makes of a type, by the type's oid: one text is a value, or at least has the form of one, of each type that is not a date. */
function kindOf(oid: number, rows: Statement["rows"]): string {
  const read: (value: never) => unknown = columnTypes.getTypeParser(oid, rows);
  return kindOfValue(read((rows === "binary" ? Buffer.alloc(16) : "{1}") as never));
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return `${kindOfValue(value[0])}[]`;
  return Buffer.isBuffer(value) ? "bytes" : typeof value;
}

/** Returns the names of the columns of tables that may be NULL, by the oid of the table and the number of the column. */
async function readNullable(client: Client): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ place: string; name: string }>(
    `SELECT a.attrelid || '.' || a.attnum AS place, a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attnotnull`,
  );
  return new Map(rows.map(({ place, name }) => [place, name]));
}

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
