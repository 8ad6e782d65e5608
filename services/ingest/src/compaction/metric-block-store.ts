import type { MetricBlockChange } from "../domain/metric-block-change.ts";
import type { MetricBlockFacts } from "../domain/metric-stripes.ts";

/** The blocks of one run's metrics, as far as a compactor asks for them. */
export type MetricBlockStore = {
  /** Of all widths, the blocks with these first keys, each key's from its oldest one on that is newer than its last sealed one. */
  tails(firstKeys: readonly number[]): Promise<MetricBlockFacts[]>;
  /** Their contents, encoded, in the order asked for. */
  read(blocks: readonly MetricBlockFacts[]): Promise<Uint8Array[]>;
  /** All of the change or nothing: false when somebody else has the work by now. */
  replace(change: MetricBlockChange): Promise<boolean>;
};
