import {
  countOf,
  cutColumns,
  mergeColumns,
  messageBytesOf,
  positionAt,
  sliceColumns,
  weightOf,
  type LogColumns,
} from "@tidemark/log-codec";
import { JOINED_BLOCKS_MAX, placeRanges, type LevelRules } from "../domain/log-levels.ts";
import type { LogBlockStore, StepResult } from "./log-block-store.ts";

/** Lines are written as ranges of their own where so many numbers are missing between them. */
const GAP_MIN = 1000;
/** Most ranges of one step, so that a client that numbers its lines by the clock costs no more than others. */
const RANGES_MAX = 8;

/** Moves landed lines into blocks of the stream, in one change. */
export async function absorbLines(
  store: LogBlockStore,
  rules: LevelRules,
  rows: readonly { readonly id: number; readonly columns: LogColumns }[],
): Promise<StepResult> {
  const ranges = splitAtGaps(mergeColumns(rows.map(({ columns }) => columns)));
  const before = await store.before(
    ranges.map((range) => positionAt(range, countOf(range) - 1)),
    JOINED_BLOCKS_MAX,
  );
  const placements = placeRanges(
    rules,
    ranges.map((range) => ({
      first: positionAt(range, 0),
      last: positionAt(range, countOf(range) - 1),
      weight: weightOf(countOf(range), messageBytesOf(range)),
    })),
    before,
  );
  const replaced = placements.flatMap((placement) => placement.replaced);
  const contents = replaced.length === 0 ? [] : await store.read(replaced);
  const added = placements.flatMap(({ level, ranges: own, replaced: joined }) => {
    const stored = joined.map((block) => contents[replaced.indexOf(block)]!);
    const whole = mergeColumns([...own.map((index) => ranges[index]!), ...stored]);
    return cutColumns(whole, rules.blockWeight).map((columns) => ({ level, columns }));
  });
  const landingIds = rows.map(({ id }) => id);
  return (await store.replace({ landingIds, replaced, added })) ? { blocks: added.length } : "lost";
}

function splitAtGaps(columns: LogColumns): LogColumns[] {
  const { lineNumbers } = columns;
  const gaps: { size: number; at: number }[] = [];
  for (let i = 1; i < lineNumbers.length; i++) {
    const size = lineNumbers[i]! - lineNumbers[i - 1]!;
    if (size >= GAP_MIN) gaps.push({ size, at: i });
  }
  const widest = gaps.sort((a, b) => b.size - a.size).slice(0, RANGES_MAX - 1);
  const cuts = [0, ...widest.map(({ at }) => at).sort((a, b) => a - b), lineNumbers.length];
  return cuts.slice(1).map((to, i) => sliceColumns(columns, cuts[i]!, to));
}
