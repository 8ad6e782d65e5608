import { expect, test } from "@jest/globals";
import { parseJsonObject } from "@tidemark/documents";
import { TRACE_LIMITS } from "@tidemark/limits";
import { turnsDuring } from "@tidemark/testkit";
import { inputOf } from "../route-input.fixture.ts";
import { decodeAppendTraceEvents } from "./append.ts";

const event = (number: number, more = ""): string => {
  const id = number.toString(16).padStart(12, "0");
  const ids = `"trace_id":"${"a".repeat(32)}","span_id":"0001${id}","event_id":"0c9b8a1e-1111-4222-8333-${id}"`;
  const facts = `"sequence":1,"event_kind":"finished","name":"n","kind":"custom","status":"ok","started_at":"2026-01-02T03:04:05Z"`;
  return `{${ids},${facts}${more}}`;
};
const decode = (events: readonly string[]) =>
  decodeAppendTraceEvents(inputOf({ body: parseJsonObject(Buffer.from(`{"events":[${events.join(",")}]}`), true) }));
const numbers = (count: number): string => `,"attributes":{"a":[${Array(count).fill("1e20").join(",")}]}`;

test("the largest bodies leave turns to others while they are read, and a few events do not", async () => {
  const events = Array.from({ length: TRACE_LIMITS.eventsMax }, (_, i) => event(i, numbers(1000)));
  const many = await turnsDuring(() => decode(events));
  expect(many.result.events).toHaveLength(TRACE_LIMITS.eventsMax);
  expect(many.turns).toBeGreaterThanOrEqual(3);
  const few = await turnsDuring(() => decode(events.slice(0, 2)));
  expect(few.result.events).toHaveLength(2);
  // The system may take the processor away for as long as a turn.
  expect(few.turns).toBeLessThan(2);
});

test("the first fault waits for the run", async () => {
  const faultOf = async (events: readonly string[]) => (await decode(events)).bodyFault;
  const refused = "events[1]: attributes must have at most 32768 bytes";
  expect(await faultOf([event(0), event(1, numbers(8000))])).toEqual({ text: refused, field: "events" });
  expect(await faultOf([event(0), event(1, numbers(2000))])).toEqual({ text: refused, field: "events" });
  expect(await faultOf(["1"])).toEqual({ text: "events[0]: must be an object", field: "events" });
  expect(await faultOf([])).toMatchObject({ field: "events" });
});
