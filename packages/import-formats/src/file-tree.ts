/** An entry of a folder. */
export type TreeEntry = {
  /** One name, without `/`. */
  readonly name: string;
  readonly isFolder: boolean;
  /** Bytes of a file; 0 for a folder. */
  readonly size: number;
};

/** A path in the trees that are read, relative to the root, separated by `/`; the root is the empty text. */
export type TreePath = string;

/**
 * The folder that is read, which the caller opens. Errors of its functions pass through the readers.
 * A single file is read as a folder that holds it alone.
 */
export type FileTree = {
  /** Lists a folder in any order, without links that lead out of the root. A folder that is not there is empty. */
  list(folder: TreePath): Promise<readonly TreeEntry[]>;
  /** Reads a file from `from` on (default 0), in pieces of any size. */
  read(file: TreePath, from?: number): AsyncIterable<Uint8Array>;
};

/** A folder whose files can also be read from any place. */
export type RandomFileTree = FileTree & {
  /** Reads the bytes of a file from `start` to before `end`; fewer where it ends earlier. */
  slice(file: TreePath, start: number, end: number): Promise<ArrayBuffer>;
};

/** A row of a database: columns by their names. Integers are `bigint`, other numbers `number`. */
export type SqlRow = Readonly<Record<string, null | number | bigint | string | Uint8Array>>;

/**
 * Runs one SELECT with parameters `?` on a SQLite database that the caller opened read-only. Rows are requested one by one, so the whole answer is never in
 * memory. What it throws counts as damage of the database. `sqliteQuery` makes one.
 */
export type Query = (sql: string, ...parameters: readonly (number | string)[]) => Iterable<SqlRow>;
