import {
  concatColumns,
  countValues,
  decodeBlock,
  encodeBlock,
  type BlockColumns,
  type Effort,
} from "@tidemark/metric-codec";
import type { NewMetricBlock } from "../domain/metric-block-change.ts";
import {
  goesDeeper,
  isFinal,
  narrower,
  planAppend,
  planJoin,
  planSettled,
  STRIPE_WIDTHS,
  type Amount,
  type MetricBlockFacts,
  type Piece,
  type Stripe,
  type StripeRules,
  type StripeWidth,
} from "../domain/metric-stripes.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";
import { knowTails, type Tails } from "./metric-tails.ts";
import { firstKeysOf, spreadParts, type MetricPart } from "./spread-metrics.ts";

/** Most that one change rewrites, or one stripe, in the values that a stripe may hold. */
const REWRITTEN_STRIPES = 4;

/** What is to be done in one change. */
export type Arrangement = {
  readonly segmentIds: readonly number[];
  /** What has landed, in order of arrival. */
  readonly parts: readonly MetricPart[];
  /** Stripes to look at although nothing may have come for them. */
  readonly untidy: readonly Stripe[];
  /** How much work the blocks are worth that are written for good; others are written quickly. */
  readonly effort: Effort;
  /** Nothing more is expected to come: few blocks shall remain, and all are written for good. */
  readonly isSettled: boolean;
};

/** How many blocks were written, and which stripes have more blocks than they should; `lost` when somebody else has the work by now. */
export type Arranged = { readonly blocks: number; readonly untidy: readonly Stripe[] } | "lost";

/** A stripe that something comes to or is done with. */
type Place = {
  readonly stripe: Stripe;
  readonly stored: readonly MetricBlockFacts[];
  readonly parts: readonly MetricPart[];
};
type Writing = Place & { readonly pieces: readonly Piece[] };

/** Puts what has landed into blocks, joins blocks and cuts stripes that grew too large, in one change of bounded size. */
export async function arrangeMetrics(
  store: MetricBlockStore,
  rules: StripeRules,
  { segmentIds, parts, untidy, effort, isSettled }: Arrangement,
  turn: () => Promise<void>,
): Promise<Arranged> {
  const tails = await knowTails(store, parts);
  const coming = new Map(STRIPE_WIDTHS.map((width) => [width, new Map<number, MetricPart[]>()]));
  for (const { firstKey, width } of untidy) coming.get(width)!.set(firstKey, []);
  await spreadParts(parts, STRIPE_WIDTHS[0], coming.get(STRIPE_WIDTHS[0])!, turn);

  const writings: Writing[] = [];
  const gone: MetricBlockFacts[] = [];
  const left: Stripe[] = [];
  let rewritten = 0;
  const mayRewrite = (blocks: readonly Amount[]): boolean => {
    const values = valuesOf(blocks);
    if (values > 0 && rewritten > 0 && rewritten + values > REWRITTEN_STRIPES * rules.valuesMax) return false;
    rewritten += values;
    return true;
  };

  const planFor = (place: Place, fresh: readonly Amount[]): Piece[] =>
    isSettled && fresh.length === 0 ? planSettled(rules, place.stored) : planJoin(rules, place.stored, fresh);

  for (const width of STRIPE_WIDTHS) {
    const cuts: Place[] = [];
    for (const place of await placesOf(tails, width, coming.get(width)!)) {
      const { stripe } = place;
      const amounts = place.parts.map(({ columns }) => amountOf(columns));
      const children = place.stored.length > 0 ? 0 : childrenOf(width, place.parts);
      const deeper = goesDeeper(rules, stripe, valuesOf(place.stored), valuesOf(amounts), children);
      const pieces = deeper ? [] : planFor(place, amounts);
      const old = deeper
        ? place.stored
        : place.stored.filter((_, at) => pieces.some(({ from, to }) => from <= at && at < to));
      if (!mayRewrite(old)) {
        left.push(stripe);
        writings.push({ ...place, pieces: planAppend(rules, place.stored, amounts) });
        continue;
      }
      gone.push(...old);
      if (deeper) cuts.push(place);
      else writings.push({ ...place, pieces });
    }
    if (cuts.length === 0) continue;
    const contents = await readParts(
      store,
      cuts.flatMap((place) => place.stored),
      turn,
    );
    const below = narrower(width)!;
    for (const place of cuts) {
      const all = [...place.stored.map((block) => contents.get(block)!), ...place.parts];
      await spreadParts(all, below, coming.get(below)!, turn);
    }
  }

  const effortOf = ({ width }: Stripe, points: number): Effort =>
    isSettled || isFinal(rules, width, points) ? effort : "fast";
  const added = await encodePieces(store, writings, effortOf, turn);
  if (added.length === 0 && segmentIds.length === 0) return { blocks: 0, untidy: left };
  const before = valuesOf(gone) + parts.reduce((sum, { columns }) => sum + countValues(columns), 0);
  if (added.reduce((sum, { block }) => sum + block.valueCount, 0) !== before) throw new Error("values would be lost");
  const held = await store.replace({ segmentIds, replaced: gone, added });
  return held ? { blocks: added.length, untidy: left } : "lost";
}

async function placesOf(
  tails: Tails,
  width: StripeWidth,
  coming: ReadonlyMap<number, readonly MetricPart[]>,
): Promise<Place[]> {
  const stored = new Map<number, MetricBlockFacts[]>([...coming.keys()].map((firstKey) => [firstKey, []]));
  for (const block of await tails([...coming.keys()]))
    if (block.width === width) stored.get(block.firstKey)!.push(block);
  return [...coming].map(([firstKey, parts]) => ({
    stripe: { firstKey, width },
    stored: stored.get(firstKey)!,
    parts,
  }));
}

async function readParts(
  store: MetricBlockStore,
  blocks: readonly MetricBlockFacts[],
  turn: () => Promise<void>,
): Promise<ReadonlyMap<MetricBlockFacts, MetricPart>> {
  const contents = blocks.length === 0 ? [] : await store.read(blocks);
  const parts = new Map<MetricBlockFacts, MetricPart>();
  for (const [i, block] of blocks.entries()) {
    await turn();
    parts.set(block, { firstSeq: block.firstSeq, lastSeq: block.lastSeq, columns: decodeBlock(contents[i]!) });
  }
  return parts;
}

async function encodePieces(
  store: MetricBlockStore,
  writings: readonly Writing[],
  effortOf: (stripe: Stripe, points: number) => Effort,
  turn: () => Promise<void>,
): Promise<NewMetricBlock[]> {
  const contents = await readParts(
    store,
    writings.flatMap(({ stored, pieces }) => pieces.flatMap(({ from, to }) => stored.slice(from, to))),
    turn,
  );
  const added: NewMetricBlock[] = [];
  for (const { stripe, stored, parts, pieces } of writings) {
    for (const { from, to } of pieces) {
      const all = [
        ...stored.slice(from, to).map((block) => contents.get(block)!),
        ...parts.slice(Math.max(0, from - stored.length), Math.max(0, to - stored.length)),
      ];
      const columns = concatColumns(all.map((part) => part.columns));
      await turn();
      const block = encodeBlock(columns, { ...stripe, effort: effortOf(stripe, columns.steps.length) });
      added.push({ ...stripe, firstSeq: all[0]!.firstSeq, lastSeq: all.at(-1)!.lastSeq, block });
      await turn();
    }
  }
  return added;
}

function childrenOf(width: StripeWidth, parts: readonly MetricPart[]): number {
  const below = narrower(width);
  return below === undefined ? 0 : firstKeysOf(below, parts).size;
}

function amountOf(columns: BlockColumns): Amount {
  return { points: columns.steps.length, values: countValues(columns) };
}

function valuesOf(amounts: readonly Amount[]): number {
  return amounts.reduce((sum, { values }) => sum + values, 0);
}
