import { expect, test } from "@jest/globals";
import { createRunStates, type RunState } from "./run-states.rules.ts";

const stateOf = (runId: string, version = 1): RunState => ({
  runId,
  version,
  keyCount: 0,
  pointCount: 0,
  notedMinute: 0,
});

test("pages and key ids are known with the state that they were set with, and no other", () => {
  const states = createRunStates(2 ** 20);
  const state = stateOf("a");
  const page = { numbers: Float64Array.of(1), nonFinite: null };
  const ids = Uint32Array.of(2);
  states.set(state);
  states.setPage(state, 0, page);
  states.setKeyIds(state, "set", ids);
  expect(states.get("a")).toBe(state);
  expect(states.page(state, 0)).toBe(page);
  expect(states.keyIds(state, "set")).toBe(ids);
  expect(states.page(state, 1)).toBeUndefined();
  expect(states.keyIds(state, "other")).toBeUndefined();
  states.forget("a");
  expect(states.get("a")).toBeUndefined();
  const next = stateOf("a", 2);
  states.set(next);
  expect(states.page(next, 0)).toBeUndefined();
  expect(states.keyIds(next, "set")).toBeUndefined();
});

test("the least recently used entry is dropped when the memory is full, pages before key ids", () => {
  const states = createRunStates(256 * 1024);
  const state = stateOf("a");
  states.set(state);
  states.setKeyIds(state, "set", new Uint32Array(100));
  for (let page = 0; page < 1000; page++) {
    states.setPage(state, page, { numbers: new Float64Array(224), nonFinite: new Float64Array(96) });
    states.page(state, 0);
  }
  expect(states.page(state, 0)).toBeDefined();
  expect(states.page(state, 1)).toBeUndefined();
  expect(states.page(state, 999)).toBeDefined();
  expect(states.keyIds(state, "set")).toBeDefined();
  const pages = Array.from({ length: 1000 }, (_, page) => states.page(state, page)).filter(
    (page) => page !== undefined,
  );
  expect(pages.length * 2560).toBeLessThan(256 * 1024);
});

test("a state larger than the memory is not kept", () => {
  const states = createRunStates(1024);
  const state = stateOf("a");
  states.setPage(state, 0, { numbers: new Float64Array(320), nonFinite: null });
  expect(states.page(state, 0)).toBeUndefined();
});
