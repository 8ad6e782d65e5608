import { STRIPE_WIDTHS, type MetricBlockFacts } from "../domain/metric-stripes.ts";
import type { MetricBlockStore } from "./metric-block-store.ts";
import { firstKeysOf, type MetricPart } from "./spread-metrics.ts";

/** Stripes of all widths whose blocks are asked for before it is known which of them matter, so that small changes ask once. */
const FIRST_KEYS_AT_ONCE = 48;

/** The newest blocks with these first keys, of all widths; asks for those of each key once. */
export type Tails = (firstKeys: readonly number[]) => Promise<readonly MetricBlockFacts[]>;

/** Looks blocks up for one change; those that a few new points may come to are asked for together, at once. */
export async function knowTails(store: MetricBlockStore, parts: readonly MetricPart[]): Promise<Tails> {
  const known = new Map<number, MetricBlockFacts[]>();
  const tails: Tails = async (firstKeys) => {
    const unknown = [...new Set(firstKeys)].filter((firstKey) => !known.has(firstKey));
    for (const firstKey of unknown) known.set(firstKey, []);
    if (unknown.length > 0) for (const block of await store.tails(unknown)) known.get(block.firstKey)!.push(block);
    return firstKeys.flatMap((firstKey) => known.get(firstKey)!);
  };
  const wanted = STRIPE_WIDTHS.flatMap((width) => [...firstKeysOf(width, parts)]);
  if (wanted.length <= FIRST_KEYS_AT_ONCE) await tails(wanted);
  return tails;
}
