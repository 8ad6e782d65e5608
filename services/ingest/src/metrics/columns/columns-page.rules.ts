/** The kind of a row of a page. */
export const ROW_KINDS = { statistics: 0, chunk: 1, segment: 2 } as const;

/** A row of a page of stored points. Its parts follow one another in the bytes of the page, each from a multiple of 8 on. */
export type PageRow = {
  readonly kind: (typeof ROW_KINDS)[keyof typeof ROW_KINDS];
  /** Place of the source in the plan. */
  readonly source: number;
  /** Place of the entry in the plan; -1 for a segment. */
  readonly entry: number;
  /** When a segment was received, in microseconds since the Unix epoch. */
  readonly receivedUs: number;
  /** Where the parts begin. */
  readonly at: number;
  /** Bytes of the steps and the times of a block, which are read with its first chunk; -1 without. */
  readonly steps: number;
  readonly times: number;
  /** Bytes of a chunk's section, of its statistics or of a segment. */
  readonly section: number;
};

/** Stored points as they were read. */
export type ColumnsPage = { readonly bytes: Uint8Array<ArrayBuffer>; readonly rows: readonly PageRow[] };

/** Collects the rows of a page; their bytes are in memory that is reused. */
export type PageBuilder = {
  add(row: Pick<PageRow, "kind" | "source" | "entry" | "receivedUs">, parts: PageParts): void;
  take(): ColumnsPage;
};

/** The bytes of a row. */
export type PageParts = {
  readonly steps: Uint8Array | null;
  readonly times: Uint8Array | null;
  readonly section: Uint8Array;
};

const CAPACITY = 256 * 1024;

/** Begins an empty page. */
export function createPageBuilder(): PageBuilder {
  let bytes = new Uint8Array(CAPACITY);
  let end = 0;
  const rows: PageRow[] = [];

  const put = (part: Uint8Array | null): number => {
    if (part === null) return -1;
    if (end + part.length > bytes.length) {
      const larger = new Uint8Array(Math.max(2 * bytes.length, end + part.length + 8));
      larger.set(bytes.subarray(0, end));
      bytes = larger;
    }
    bytes.set(part, end);
    end = aligned(end + part.length);
    return part.length;
  };

  return {
    add({ kind, source, entry, receivedUs }, { steps, times, section }) {
      const at = end;
      rows.push({ kind, source, entry, receivedUs, at, steps: put(steps), times: put(times), section: put(section) });
    },
    take: () => ({ bytes, rows }),
  };
}

/** Returns the bytes of a row, without a copy. */
export function partsOf({ bytes }: ColumnsPage, { at, steps, times, section }: PageRow): PageParts {
  let from = at;
  const next = (length: number): Uint8Array | null => {
    if (length < 0) return null;
    const part = bytes.subarray(from, from + length);
    from = aligned(from + length);
    return part;
  };
  return { steps: next(steps), times: next(times), section: next(section)! };
}

function aligned(at: number): number {
  return (at + 7) & ~7;
}
