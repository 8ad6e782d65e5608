import { COUNTED_TYPES, noCounts, type CountedType } from "@tidemark/archive";
import { lineFault, type Fact, type FactType, type PieceFacts } from "./piece-facts.rules.ts";

/** The content of an archive that was found to be complete. */
export type ArchiveFacts = {
  readonly counts: Readonly<Record<CountedType, number>>;
  /** How often each unknown type occurred. */
  readonly unknown: ReadonlyMap<string, number>;
  /** The ids of all rows, by type, in their order. */
  readonly ids: ReadonlyMap<FactType, ReadonlySet<string>>;
};

/**
 * Judges an archive by the facts of its pieces, in their order: it begins and ends once, everything that a line belongs to is before it, no id occurs
 * twice, and the end has the right counts. Yields after each piece, where the caller may let others work.
 * @throws LineFault
 */
export function* judgeArchive(pieces: readonly PieceFacts[]): Generator<void, ArchiveFacts> {
  const ids = new Map<FactType, Set<string>>();
  const counts = noCounts();
  const unknown = new Map<string, number>();
  let hasEnded = false;
  for (const piece of pieces) {
    if (hasEnded && piece.last > 0) throw lineFault(piece.last, "something follows the end of the archive");
    for (const fact of piece.facts) take(ids, fact);
    for (const type of COUNTED_TYPES) counts[type] += piece.counts[type] ?? 0;
    for (const [type, times] of Object.entries(piece.unknown)) unknown.set(type, (unknown.get(type) ?? 0) + times);
    if (piece.ends !== undefined) {
      judgeEnd(piece.ends, counts);
      hasEnded = true;
    }
    yield;
  }
  return { counts, unknown, ids };
}

function take(ids: Map<FactType, Set<string>>, [kind, type, id, line]: Fact): void {
  const known = ids.get(type) ?? new Set();
  ids.set(type, known);
  if (kind === "names") {
    if (!known.has(id)) throw lineFault(line, `no ${type} ${id} comes before`);
  } else if (known.has(id)) throw lineFault(line, `the ${type} ${id} comes twice`);
  else known.add(id);
}

function judgeEnd({ line, counts: told }: NonNullable<PieceFacts["ends"]>, counts: Record<CountedType, number>): void {
  for (const type of COUNTED_TYPES) {
    if ((told[type] ?? 0) !== counts[type]) {
      throw lineFault(line, `the end counts ${told[type] ?? 0} of ${type}, and there are ${counts[type]}`);
    }
  }
}

/** Returns the warnings about ignored lines. */
export function unknownWarnings(unknown: ReadonlyMap<string, number>): string[] {
  return [...unknown].map(([type, times]) => `${times} lines of the unknown type ${JSON.stringify(type)} were skipped`);
}
