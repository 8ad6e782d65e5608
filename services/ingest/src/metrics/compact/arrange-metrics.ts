import {
  concatColumns,
  countValues,
  decodeBlock,
  encodeBlock,
  KEY_RANGE_WIDTHS,
  type BlockColumns,
  type Effort,
} from "@tidemark/codecs/metrics";
import {
  goesDeeper,
  isFinal,
  narrower,
  planAppend,
  planJoin,
  planComplete,
  type Amount,
  type MetricBlockFacts,
  type NewMetricBlock,
  type Piece,
  type KeyRange,
  type KeyRangeRules,
  type KeyRangeWidth,
} from "./key-ranges.rules.ts";
import { type MetricBlockStore, firstKeysOf, spreadParts, type MetricPart } from "./metric-block-store.ts";

/** The most that one change rewrites, unless it rewrites one key range only, in multiples of the values that a key range may hold. */
const REWRITTEN_KEY_RANGES = 4;

/** The work of one change. */
export type Arrangement = {
  readonly segmentIds: readonly number[];
  /** The points of the segments, in order of arrival. */
  readonly parts: readonly MetricPart[];
  /** Key ranges to look at even if there are no new points for them. */
  readonly untidy: readonly KeyRange[];
  /** How much effort a final block is worth; others are written quickly. */
  readonly effort: Effort;
  /** No more points are expected: few blocks should remain, all of them final. */
  readonly isComplete: boolean;
};

/** How many blocks were written, and which key ranges have more blocks than they should; `lost` when another process now has the work. */
export type Arranged = { readonly blocks: number; readonly untidy: readonly KeyRange[] } | "lost";

/** A key range that gets new points or is rewritten. */
type Target = {
  readonly keyRange: KeyRange;
  readonly stored: readonly MetricBlockFacts[];
  readonly parts: readonly MetricPart[];
};
type Writing = Target & { readonly pieces: readonly Piece[] };

/** Puts new points into blocks, joins blocks and cuts key ranges that grew too large, in one change of bounded size. */
export async function arrangeMetrics(
  store: MetricBlockStore,
  rules: KeyRangeRules,
  { segmentIds, parts, untidy, effort, isComplete }: Arrangement,
  giveTurn: () => Promise<void>,
): Promise<Arranged> {
  const tails = await knowTails(store, parts);
  const coming = new Map(KEY_RANGE_WIDTHS.map((width) => [width, new Map<number, MetricPart[]>()]));
  for (const { firstKey, width } of untidy) coming.get(width)!.set(firstKey, []);
  await spreadParts(parts, KEY_RANGE_WIDTHS[0], coming.get(KEY_RANGE_WIDTHS[0])!, giveTurn);

  const writings: Writing[] = [];
  const gone: MetricBlockFacts[] = [];
  const left: KeyRange[] = [];
  let rewritten = 0;
  const mayRewrite = (blocks: readonly Amount[]): boolean => {
    const values = valuesOf(blocks);
    if (values > 0 && rewritten > 0 && rewritten + values > REWRITTEN_KEY_RANGES * rules.valuesMax) return false;
    rewritten += values;
    return true;
  };

  const planFor = (target: Target, fresh: readonly Amount[]): Piece[] =>
    isComplete && fresh.length === 0 ? planComplete(rules, target.stored) : planJoin(rules, target.stored, fresh);

  for (const width of KEY_RANGE_WIDTHS) {
    const cuts: Target[] = [];
    for (const target of await targetsOf(tails, width, coming.get(width)!)) {
      const { keyRange } = target;
      const amounts = target.parts.map(({ columns }) => amountOf(columns));
      const children = target.stored.length > 0 ? 0 : childrenOf(width, target.parts);
      const deeper = goesDeeper(rules, keyRange, valuesOf(target.stored), valuesOf(amounts), children);
      const pieces = deeper ? [] : planFor(target, amounts);
      const old = deeper
        ? target.stored
        : target.stored.filter((_, at) => pieces.some(({ from, to }) => from <= at && at < to));
      if (!mayRewrite(old)) {
        left.push(keyRange);
        writings.push({ ...target, pieces: planAppend(rules, target.stored, amounts) });
        continue;
      }
      gone.push(...old);
      if (deeper) cuts.push(target);
      else writings.push({ ...target, pieces });
    }
    if (cuts.length === 0) continue;
    const contents = await readParts(
      store,
      cuts.flatMap((target) => target.stored),
      giveTurn,
    );
    const below = narrower(width)!;
    for (const target of cuts) {
      const all = [...target.stored.map((block) => contents.get(block)!), ...target.parts];
      await spreadParts(all, below, coming.get(below)!, giveTurn);
    }
  }

  const effortOf = ({ width }: KeyRange, points: number): Effort =>
    isComplete || isFinal(rules, width, points) ? effort : "fast";
  const added = await encodePieces(store, writings, effortOf, giveTurn);
  if (added.length === 0 && segmentIds.length === 0) return { blocks: 0, untidy: left };
  const before = valuesOf(gone) + parts.reduce((sum, { columns }) => sum + countValues(columns), 0);
  if (added.reduce((sum, { block }) => sum + block.valueCount, 0) !== before) throw new Error("values would be lost");
  const held = await store.replace({ segmentIds, replaced: gone, added });
  return held ? { blocks: added.length, untidy: left } : "lost";
}

async function targetsOf(
  tails: Tails,
  width: KeyRangeWidth,
  coming: ReadonlyMap<number, readonly MetricPart[]>,
): Promise<Target[]> {
  const stored = new Map<number, MetricBlockFacts[]>([...coming.keys()].map((firstKey) => [firstKey, []]));
  for (const block of await tails([...coming.keys()]))
    if (block.width === width) stored.get(block.firstKey)!.push(block);
  return [...coming].map(([firstKey, parts]) => ({
    keyRange: { firstKey, width },
    stored: stored.get(firstKey)!,
    parts,
  }));
}

async function readParts(
  store: MetricBlockStore,
  blocks: readonly MetricBlockFacts[],
  giveTurn: () => Promise<void>,
): Promise<ReadonlyMap<MetricBlockFacts, MetricPart>> {
  const contents = blocks.length === 0 ? [] : await store.read(blocks);
  const parts = new Map<MetricBlockFacts, MetricPart>();
  for (const [i, block] of blocks.entries()) {
    await giveTurn();
    parts.set(block, { firstSeq: block.firstSeq, lastSeq: block.lastSeq, columns: decodeBlock(contents[i]!) });
  }
  return parts;
}

async function encodePieces(
  store: MetricBlockStore,
  writings: readonly Writing[],
  effortOf: (keyRange: KeyRange, points: number) => Effort,
  giveTurn: () => Promise<void>,
): Promise<NewMetricBlock[]> {
  const contents = await readParts(
    store,
    writings.flatMap(({ stored, pieces }) => pieces.flatMap(({ from, to }) => stored.slice(from, to))),
    giveTurn,
  );
  const added: NewMetricBlock[] = [];
  for (const { keyRange, stored, parts, pieces } of writings) {
    for (const { from, to } of pieces) {
      const all = [
        ...stored.slice(from, to).map((block) => contents.get(block)!),
        ...parts.slice(Math.max(0, from - stored.length), Math.max(0, to - stored.length)),
      ];
      const columns = concatColumns(all.map((part) => part.columns));
      await giveTurn();
      const block = encodeBlock(columns, { ...keyRange, effort: effortOf(keyRange, columns.steps.length) });
      added.push({ ...keyRange, firstSeq: all[0]!.firstSeq, lastSeq: all.at(-1)!.lastSeq, block });
      await giveTurn();
    }
  }
  return added;
}

function childrenOf(width: KeyRangeWidth, parts: readonly MetricPart[]): number {
  const below = narrower(width);
  return below === undefined ? 0 : firstKeysOf(below, parts).size;
}

function amountOf(columns: BlockColumns): Amount {
  return { points: columns.steps.length, values: countValues(columns) };
}

function valuesOf(amounts: readonly Amount[]): number {
  return amounts.reduce((sum, { values }) => sum + values, 0);
}

/** Up to this many first keys, blocks of all widths are requested before it is known which of them matter, so that small changes ask once. */
const FIRST_KEYS_TOGETHER = 48;

/** Returns the newest blocks with these first keys, of all widths; asks the store once for each key. */
type Tails = (firstKeys: readonly number[]) => Promise<readonly MetricBlockFacts[]>;

/** Looks blocks up for one change. Asks immediately for all blocks that a few new points may need. */
async function knowTails(store: MetricBlockStore, parts: readonly MetricPart[]): Promise<Tails> {
  const known = new Map<number, MetricBlockFacts[]>();
  const tails: Tails = async (firstKeys) => {
    const unknown = [...new Set(firstKeys)].filter((firstKey) => !known.has(firstKey));
    for (const firstKey of unknown) known.set(firstKey, []);
    if (unknown.length > 0) for (const block of await store.tails(unknown)) known.get(block.firstKey)!.push(block);
    return firstKeys.flatMap((firstKey) => known.get(firstKey)!);
  };
  const wanted = KEY_RANGE_WIDTHS.flatMap((width) => [...firstKeysOf(width, parts)]);
  if (wanted.length <= FIRST_KEYS_TOGETHER) await tails(wanted);
  return tails;
}
