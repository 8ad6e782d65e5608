import {
  decodeLogBlock,
  type LogColumns,
  countOf,
  cutColumns,
  indexAfter,
  mergeColumns,
  messageBytesOf,
  positionAt,
  sliceColumns,
  weightOf,
} from "@tidemark/codecs/logs";
import type { Db } from "@tidemark/pg";
import type { Claim } from "../compaction/compaction-work.sql.ts";
import { listLogBlocksAtTop, listLogBlocksBefore, readLogBlocks, replaceLogBlocks } from "./log-blocks.sql.ts";
import {
  type BlockChange,
  type BlockFacts,
  FOLD_BLOCKS_MAX,
  JOINED_BLOCKS_MAX,
  placeRanges,
  planFold,
  type Fold,
  type LevelRules,
  type NewBlock,
} from "./log-levels.rules.ts";
import type { LogPosition, LogSource } from "./log-page.rules.ts";

/** The blocks of one stream, as a compactor sees them. */
export type LogBlockStore = {
  /** Returns, for each position, the blocks of each level that begin at or before it, nearest first, up to `blocksMax` per level. */
  before(positions: readonly LogPosition[], blocksMax: number): Promise<BlockFacts[][]>;
  /**
   * Returns the first block of the highest level, if that is at least `lowestLevel`, then the lower-level blocks that overlap it, up to `blocksMax`
   * per level.
   */
  atTop(lowestLevel: number, blocksMax: number): Promise<BlockFacts[]>;
  read(blocks: readonly BlockFacts[]): Promise<LogColumns[]>;
  /** Makes the whole change or none of it. Returns false when another process now has the work. */
  replace(change: BlockChange): Promise<boolean>;
};

/** How many blocks a step wrote; `lost` when another process now has the work. */
type StepResult = { readonly blocks: number } | "lost";

/** Returns the store of a stream's blocks in the database, for the holder of the claim. `db` runs as the worker. */
export function openLogBlocks(db: Db, source: LogSource, claim: Claim): LogBlockStore {
  return {
    before: (positions, blocksMax) => listLogBlocksBefore(db, source, positions, blocksMax),
    atTop: (lowestLevel, blocksMax) => listLogBlocksAtTop(db, source, lowestLevel, blocksMax),
    read: async (blocks) => (await readLogBlocks(db, source, blocks)).map((block) => decodeLogBlock(block)),
    replace: (change) => replaceLogBlocks(db, source, claim, change),
  };
}

/** Lines are written as separate ranges where this many numbers are missing between them. */
const GAP_MIN = 1000;
/** Most ranges of one step, so that a client that numbers its lines by the clock costs no more than any other. */
const RANGES_MAX = 8;

/** Moves the lines of landing segments into blocks of the stream, in one change. */
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
  const segmentIds = rows.map(({ id }) => id);
  return (await store.replace({ segmentIds, replaced, added })) ? { blocks: added.length } : "lost";
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

/** Takes one block out of a level that is too high, in one change. Returns undefined when no level is too high. */
export async function foldLevels(store: LogBlockStore, rules: LevelRules): Promise<StepResult | undefined> {
  const [top, ...overlapping] = await store.atTop(rules.levelsMax, FOLD_BLOCKS_MAX + 1);
  if (top === undefined) return undefined;
  const fold = planFold(rules, top, overlapping);
  const replaced = fold.kind === "split" ? [top] : fold.inputs;
  const whole = mergeColumns(await store.read(replaced));
  const added = fold.kind === "split" ? halves(top.level, whole) : folded(rules, fold, top, whole);
  return (await store.replace({ segmentIds: [], replaced, added })) ? { blocks: added.length } : "lost";
}

function halves(level: number, whole: LogColumns): NewBlock[] {
  const middle = Math.ceil(countOf(whole) / 2);
  return [
    { level, columns: sliceColumns(whole, 0, middle) },
    { level, columns: sliceColumns(whole, middle, countOf(whole)) },
  ];
}

function folded(rules: LevelRules, fold: Fold & { kind: "merge" }, top: BlockFacts, whole: LogColumns): NewBlock[] {
  const from = indexAfter(whole, { ...top.first, id: top.first.id - 1 });
  const to = indexAfter(whole, top.last);
  const parts = [
    { level: fold.left, from: 0, to: from },
    { level: fold.middle, from, to },
    { level: fold.right, from: to, to: countOf(whole) },
  ];
  const added: NewBlock[] = [];
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    // Neighbors of one level are cut together, so that no small blocks result.
    const next = parts[i + 1];
    if (next !== undefined && next.level === part.level) next.from = part.from;
    else {
      const pieces = cutColumns(sliceColumns(whole, part.from, part.to), rules.blockWeight);
      added.push(...pieces.map((columns) => ({ level: part.level, columns })));
    }
  }
  return added;
}
