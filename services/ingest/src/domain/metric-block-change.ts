import type { EncodedBlock } from "@tidemark/metric-codec";
import type { MetricBlockFacts, Span, Stripe } from "./metric-stripes.ts";

/** Points that become a block of a stripe. */
export type NewMetricBlock = Stripe & Span & { readonly block: EncodedBlock };

/** A change of a run's blocks: what goes and what comes, which hold the same points. */
export type MetricBlockChange = {
  /** Landing rows whose points are in the new blocks. */
  readonly segmentIds: readonly number[];
  readonly replaced: readonly MetricBlockFacts[];
  readonly added: readonly NewMetricBlock[];
};
