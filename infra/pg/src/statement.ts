/** A named SQL statement. PostgreSQL prepares it under this name once per connection, unless it is `planned` each time. */
export type Statement = {
  readonly name: string;
  readonly text: string;
  readonly planned?: "each time";
  /** The form in which PostgreSQL sends the rows; default text. */
  readonly rows?: "binary";
};

const declared = new Map<string, Statement>();

/** PostgreSQL truncates longer names, so two of them might become the same. */
const NAME_BYTES_MAX = 63;

function declare(statement: Statement): Statement {
  const { name, text } = statement;
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new Error(`the name of a SQL statement is too long: ${name}`);
  const known = declared.get(name);
  if (known !== undefined && known.text !== text) throw new Error(`two SQL statements share the name ${name}`);
  declared.set(name, statement);
  return statement;
}

/**
 * Declares a statement. Names are unique in a process (`<schema>_<verb>_<noun>`), because a second
 * text under a prepared name would run the first one.
 * @throws Error for a name of more than 63 bytes, or one that another text has
 */
export function sql(name: string, text: string): Statement {
  return declare({ name, text });
}

/**
 * Declares a statement whose rows arrive in PostgreSQL's binary form, for results with many bytes or numbers: as text, bytes are twice as long and take
 * four times as long to read. Columns may be boolean, bytea, text, uuid, double precision, or integers.
 */
export function binarySql(name: string, text: string): Statement {
  return declare({ name, text, rows: "binary" });
}

/** Returns the statements that this process has declared so far, for checks of all of them. */
export function declaredStatements(): readonly Statement[] {
  return [...declared.values()];
}

/**
 * Declares a statement that is planned each time and never prepared: for texts of many shapes. In a transaction with plans `by values` its plan is
 * for its values. Only the metrics use the name.
 */
export function plannedSql(name: string, text: string): Statement {
  return { name, text, planned: "each time" };
}

/** Returns a statement and its values in the form that the driver takes. */
export function queryOf({ name, text, planned, rows }: Statement, values: readonly unknown[]) {
  return {
    ...(planned === undefined ? { name } : {}),
    text,
    values: values as unknown[],
    // As arrays, because the driver copies each column of a binary row if it makes an object.
    ...(rows === "binary" ? { binary: true, rowMode: "array" } : {}),
  };
}

/** Returns the values of a row by the names of their columns. */
export function rowOf(names: readonly string[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < names.length; i++) row[names[i]!] = values[i];
  return row;
}
