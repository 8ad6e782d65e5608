import { SPAN_KINDS, SPAN_STATUSES } from "@tidemark/limits";

/** The number of a status in `tidemark.traces.v1.SpanStatus`. */
export function statusNumber(status: (typeof SPAN_STATUSES)[number]): number {
  return SPAN_STATUSES.indexOf(status) + 1;
}

/** The number of a kind in `tidemark.traces.v1.SpanKind`. */
export function kindNumber(kind: (typeof SPAN_KINDS)[number]): number {
  return SPAN_KINDS.indexOf(kind) + 1;
}
