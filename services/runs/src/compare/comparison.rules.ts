import { compareKeyBytes } from "@tidemark/codecs/metrics";
import { sameJsonAs } from "@tidemark/documents";

/** Maximum number of rows in a comparison (API specification, Limits). */
export const COMPARISON_ROWS_MAX = 5000;

/** Maximum number of JSON characters in all rows together, so that a few huge values cannot fill the memory. */
const CHARACTERS_MAX = 32 * 1024 * 1024;

/** Maximum number of values that are compared: fifty equal runs may have millions. */
const VALUES_MAX = 3_000_000;

/** Longer values are compared as text: parsing two of them takes longer than other requests should wait. */
const PARSED_CHARACTERS_MAX = 256 * 1024;

/** Characters that a number counts as. */
const NUMBER_CHARACTERS = 20;

/** A path that some of the runs have: the JSON of each run, in their order; the empty text where a run has none. */
export type TextRow = { readonly path: string; readonly values: readonly string[] };

/** A path with numbers; NaN where a run has none. */
export type NumberRow = { readonly path: string; readonly values: ArrayLike<number> };

/** Rows with values of one kind, in the order of their paths. The values of row i start at i times the number of runs. */
type ComparisonBlock = {
  readonly paths: string[];
  readonly different: boolean[];
  readonly texts: string[];
  /** Used instead of texts. */
  readonly numbers: number[];
};

/** Collects rows until a limit is reached. */
export type Comparison = {
  /**
   * Adds rows, in any order, whose paths come after all paths added before. Reads no further than it has to, and yields after each row, and after each value
   * that may have been parsed, where the caller may let other work run; returns false when the comparison is closed.
   */
  readonly addTexts: (rows: Iterable<TextRow>) => Generator<void, boolean>;
  readonly addNumbers: (rows: Iterable<NumberRow>) => Generator<void, boolean>;
  /** Counts values that were read; returns false when the comparison is closed. */
  readonly look: (values: number) => boolean;
  /** Closes the comparison as incomplete. */
  readonly cut: () => void;
  readonly isOpen: () => boolean;
  readonly blocks: readonly ComparisonBlock[];
};

type Kept<Row> = { readonly row: Row; readonly different: boolean };

/**
 * Starts a comparison; with `diffOnly`, it keeps only rows in which the runs differ. The first row beyond
 * a limit closes it: 5,000 rows, 32 million characters, or three million compared values.
 */
export function startComparison({ diffOnly }: { readonly diffOnly: boolean }): Comparison {
  const blocks: ComparisonBlock[] = [];
  let open = true;
  let rowsLeft = COMPARISON_ROWS_MAX;
  let charactersLeft = CHARACTERS_MAX;
  let valuesLeft = VALUES_MAX;

  const look = (values: number): boolean => {
    valuesLeft -= values;
    if (valuesLeft < 0) open = false;
    return open;
  };

  function* keep<Row extends { readonly values: { readonly length: number } }>(
    rows: Iterable<Row>,
    differs: (row: Row) => boolean | Generator<void, boolean>,
    charactersOf: (row: Row) => number,
  ): Generator<void, Kept<Row>[]> {
    const kept: Kept<Row>[] = [];
    for (const row of rows) {
      yield;
      if (!look(row.values.length)) break;
      const judged = differs(row);
      const different = typeof judged === "boolean" ? judged : yield* judged;
      if (diffOnly && !different) continue;
      charactersLeft -= charactersOf(row);
      if (rowsLeft === 0 || charactersLeft < 0) {
        open = false;
        break;
      }
      rowsLeft -= 1;
      kept.push({ row, different });
    }
    return kept;
  }

  const add = (
    kept: Kept<{ readonly path: string }>[],
    values: Pick<ComparisonBlock, "texts" | "numbers">,
  ): boolean => {
    if (kept.length > 0) {
      blocks.push({
        paths: kept.map(({ row }) => row.path),
        different: kept.map(({ different }) => different),
        ...values,
      });
    }
    return open;
  };

  return {
    blocks,
    look,
    cut: () => {
      open = false;
    },
    isOpen: () => open,
    *addTexts(rows) {
      const kept = byPath(open ? yield* keep(rows, textsDiffer, textLength) : []);
      return add(kept, { texts: kept.flatMap(({ row }) => row.values), numbers: [] });
    },
    *addNumbers(rows) {
      const kept = byPath(
        open ? yield* keep(rows, numbersDiffer, ({ values }) => values.length * NUMBER_CHARACTERS) : [],
      );
      return add(kept, { texts: [], numbers: joined(kept) });
    },
  };
}

function* textsDiffer({ values }: TextRow): Generator<void, boolean> {
  const [first = ""] = values;
  const isSame = sameJsonAs(first || "null");
  for (const value of values) {
    if (value === first) continue;
    if (Math.max(value.length, first.length) > PARSED_CHARACTERS_MAX || !isSame(value || "null")) return true;
    yield;
  }
  return false;
}

function numbersDiffer({ values }: NumberRow): boolean {
  const first = values[0]!;
  for (let i = 1; i < values.length; i += 1) {
    const value = values[i]!;
    if (value !== first && !(Number.isNaN(value) && Number.isNaN(first))) return true;
  }
  return false;
}

function textLength({ values }: TextRow): number {
  return values.reduce((sum, value) => sum + value.length, 0);
}

function joined(kept: readonly Kept<NumberRow>[]): number[] {
  const numbers: number[] = [];
  for (const { row } of kept) for (let i = 0; i < row.values.length; i += 1) numbers.push(row.values[i]!);
  return numbers;
}

/** Sorts rows in code point order of their paths, which most rows have already. */
function byPath<Row extends { readonly path: string }>(kept: Kept<Row>[]): Kept<Row>[] {
  const sorted = kept.every((one, i) => i === 0 || compareKeyBytes(kept[i - 1]!.row.path, one.row.path) < 0);
  return sorted ? kept : kept.sort((a, b) => compareKeyBytes(a.row.path, b.row.path));
}
