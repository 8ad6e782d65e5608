import { badRequest, isAppError } from "@tidemark/errors";
import type { Refusal } from "@tidemark/proto/common/v1/common";
import type {
  AppendMetricsTogetherRequestSchema,
  AppendMetricsTogetherResponseSchema,
} from "@tidemark/proto/ingest/v1/ingest";
import type { Handler } from "@tidemark/rpc";
import type { AppendMetrics } from "./append-metrics.ts";

/** Most writes of one call. */
const WRITES_MAX = 64;

/**
 * IngestService.AppendMetricsTogether: each write for itself, at the same time. One that would have to wait for its key is sent back, so that
 * the others need not wait with it. What nobody foresaw is told to `onUnknownError`, as a call that fails alone would tell it.
 * @throws bad_request for no write or more than 64
 */
export function appendMetricsTogetherHandler(deps: {
  readonly append: AppendMetrics;
  /** An error as a part of an answer. */
  readonly refusalOf: (error: unknown) => Refusal;
  readonly onUnknownError: (error: unknown) => void;
}): Handler<typeof AppendMetricsTogetherRequestSchema, typeof AppendMetricsTogetherResponseSchema> {
  const { append, refusalOf, onUnknownError } = deps;
  return async ({ writes }, call) => {
    if (writes.length === 0 || writes.length > WRITES_MAX) throw badRequest(`1 to ${WRITES_MAX} writes share a call`);
    const outcomes = await Promise.all(
      writes.map(async (write) => {
        try {
          return { outcome: { case: "stored" as const, value: await append(write, call, { waits: false }) } };
        } catch (error) {
          if (isAppError(error) && error.reason === "idempotency_in_progress") {
            return { outcome: { case: "alone" as const, value: true } };
          }
          if (!isAppError(error)) onUnknownError(error);
          return { outcome: { case: "refused" as const, value: refusalOf(error) } };
        }
      }),
    );
    return { outcomes };
  };
}
