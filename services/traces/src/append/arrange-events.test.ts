import { create } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { TRACE_LIMITS } from "@tidemark/limits";
import { TraceEventSchema } from "@tidemark/proto/traces/v1/traces";
import { turnsDuring } from "@tidemark/testkit";
import { finishInTurns } from "@tidemark/work";
import { eventOf, json, newTraceId, spanId } from "../traces.fixture.ts";
import { arrangeSteps } from "./arrange-events.rules.ts";

const arrange = (traceIds: readonly string[]) => {
  const attributesJson = json({ text: "x".repeat(500) });
  const events = traceIds.map((traceId, i) =>
    create(TraceEventSchema, eventOf({ traceId, spanId: spanId(i), attributesJson })),
  );
  return turnsDuring(() => finishInTurns(arrangeSteps(events)));
};

test("spans of as many traces as a request may have leave turns to others, and a few do not", async () => {
  const many = await arrange(Array.from({ length: TRACE_LIMITS.exportedSpansMax }, newTraceId));
  expect(many.result).toHaveLength(TRACE_LIMITS.exportedSpansMax);
  expect(many.turns).toBeGreaterThanOrEqual(3);
  const traceId = newTraceId();
  const few = await arrange([traceId, traceId]);
  expect(few.result).toMatchObject([{ traceId, records: [{ place: 0 }, { place: 1 }] }]);
  // The system may take the processor away for as long as a turn.
  expect(few.turns).toBeLessThan(2);
});
