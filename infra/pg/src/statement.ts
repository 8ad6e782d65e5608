/** A SQL statement with a name, under which PostgreSQL prepares it once per connection, unless it is `planned` each time. */
export type Statement = {
  readonly name: string;
  readonly text: string;
  readonly planned?: "each time";
  /** The form in which PostgreSQL sends the rows: text unless said. */
  readonly rows?: "binary";
};

const names = new Map<string, string>();

/** PostgreSQL cuts longer names off, so that two of them may become one. */
const NAME_BYTES_MAX = 63;

/**
 * Declares a statement. Names are unique in a process (`<schema>_<verb>_<noun>`), because a second
 * text under a prepared name would run the first one.
 * @throws Error for a name that is longer than 63 bytes, or that another text has
 */
export function sql(name: string, text: string): Statement {
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw new Error(`the name of a SQL statement is too long: ${name}`);
  const known = names.get(name);
  if (known !== undefined && known !== text) {
    throw new Error(`two SQL statements share the name ${name}`);
  }
  names.set(name, text);
  return { name, text };
}

/**
 * A statement whose rows come in PostgreSQL's binary form, for results with many bytes or numbers: as text, bytes are twice as long and four times
 * as slow to read. Columns may be boolean, bytea, text, uuid, double precision, or integers.
 */
export function binarySql(name: string, text: string): Statement {
  return { ...sql(name, text), rows: "binary" };
}

/**
 * A statement that is planned for the values that it is run with, and never kept: for texts of many
 * shapes, and where the best plan depends on the values. The name is for the metrics only.
 */
export function plannedSql(name: string, text: string): Statement {
  return { name, text, planned: "each time" };
}
