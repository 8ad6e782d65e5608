import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { prefetch, forgetKept, cachedGet, takePrefetched } from "./kept.ts";

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
  const ahead = prefetch("/a");
  void prefetch("/a");
  expect(takePrefetched("/a")).toBeUndefined();
  expect(await cachedGet("/a")).toEqual({ path: "/a", count: 1 });
  await ahead;
  expect(asked).toEqual(["/a"]);
  expect(await cachedGet("/a")).toEqual({ path: "/a", count: 2 });
});

test("an answer that is there is taken at once, by the very path", async () => {
  await prefetch("/a?x=1");
  expect(takePrefetched("/a")).toBeUndefined();
  expect(takePrefetched("/a?x=1")).toEqual({ path: "/a?x=1", count: 1 });
  expect(takePrefetched("/a?x=1")).toBeUndefined();
});

test("what was refused is asked for anew, and nothing is left of another session", async () => {
  status = 401;
  await prefetch("/a");
  status = 200;
  expect(await cachedGet("/a")).toEqual({ path: "/a", count: 2 });
  await prefetch("/b");
  forgetKept();
  expect(takePrefetched("/b")).toBeUndefined();
});

test("whoever has given up gets no answer", async () => {
  void prefetch("/a");
  const ending = new AbortController();
  const answer = cachedGet("/a", { signal: ending.signal });
  ending.abort();
  await expect(answer).rejects.toThrow("abort");
});

test("an answer that nobody took for long is too old", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
  try {
    await prefetch("/a");
    await prefetch("/b");
    jest.advanceTimersByTime(10_001);
    expect(takePrefetched("/a")).toBeUndefined();
    expect(await cachedGet("/b")).toEqual({ path: "/b", count: 3 });
  } finally {
    jest.useRealTimers();
  }
});
