import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { askAhead, forgetKept, keptCall, takeAhead } from "./kept.ts";

const usual = globalThis.fetch;
let asked: string[] = [];
let status = 200;

beforeEach(() => {
  asked = [];
  status = 200;
  forgetKept();
  globalThis.fetch = (async (path: string) => {
    asked.push(path);
    return Response.json({ path, count: asked.length }, { status });
  }) as typeof fetch;
});
afterEach(() => {
  globalThis.fetch = usual;
});

test("what was asked for ahead is not asked for again, once", async () => {
  const ahead = askAhead("/a");
  void askAhead("/a");
  expect(takeAhead("/a")).toBeUndefined();
  expect(await keptCall("/a")).toEqual({ path: "/a", count: 1 });
  await ahead;
  expect(asked).toEqual(["/a"]);
  expect(await keptCall("/a")).toEqual({ path: "/a", count: 2 });
});

test("an answer that is there is taken at once, by the very path", async () => {
  await askAhead("/a?x=1");
  expect(takeAhead("/a")).toBeUndefined();
  expect(takeAhead("/a?x=1")).toEqual({ path: "/a?x=1", count: 1 });
  expect(takeAhead("/a?x=1")).toBeUndefined();
});

test("what was refused is asked for anew, and nothing is left of another session", async () => {
  status = 401;
  await askAhead("/a");
  status = 200;
  expect(await keptCall("/a")).toEqual({ path: "/a", count: 2 });
  await askAhead("/b");
  forgetKept();
  expect(takeAhead("/b")).toBeUndefined();
});

test("whoever has given up gets no answer", async () => {
  void askAhead("/a");
  const ending = new AbortController();
  const answer = keptCall("/a", { signal: ending.signal });
  ending.abort();
  await expect(answer).rejects.toThrow("abort");
});

test("an answer that nobody took for long is too old", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
  try {
    await askAhead("/a");
    await askAhead("/b");
    jest.advanceTimersByTime(10_001);
    expect(takeAhead("/a")).toBeUndefined();
    expect(await keptCall("/b")).toEqual({ path: "/b", count: 3 });
  } finally {
    jest.useRealTimers();
  }
});
