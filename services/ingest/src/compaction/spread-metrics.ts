import { sliceKeys, type BlockColumns } from "@tidemark/metric-codec";
import { stripeOf, type Span, type StripeWidth } from "../domain/metric-stripes.ts";

/** Points of landing rows that follow one another. */
export type MetricPart = Span & { readonly columns: BlockColumns };

/** Adds to each stripe of this width its share of the parts, which come behind what is there. */
export async function spreadParts(
  parts: readonly MetricPart[],
  width: StripeWidth,
  coming: Map<number, MetricPart[]>,
  turn: () => Promise<void>,
): Promise<void> {
  for (const part of parts) {
    const { keyIds } = part.columns;
    for (let at = 0; at < keyIds.length;) {
      const { firstKey } = stripeOf(keyIds[at]!, width);
      const columns = sliceKeys(part.columns, firstKey, firstKey + width)!;
      const already = coming.get(firstKey);
      if (already === undefined) coming.set(firstKey, [{ ...part, columns }]);
      else already.push({ ...part, columns });
      at += columns.keyIds.length;
      await turn();
    }
  }
}

/** The first keys of the stripes of this width that the parts have keys of. */
export function firstKeysOf(width: StripeWidth, parts: readonly MetricPart[]): ReadonlySet<number> {
  const firstKeys = new Set<number>();
  for (const { columns } of parts) {
    let before = -1;
    for (const keyId of columns.keyIds) {
      const { firstKey } = stripeOf(keyId, width);
      if (firstKey !== before) firstKeys.add(firstKey);
      before = firstKey;
    }
  }
  return firstKeys;
}
