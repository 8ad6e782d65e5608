import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { forgetQueries, lastAnswer, query, queryAhead, takeAhead } from "./queries.ts";

const usual = globalThis.fetch;
let asked: { readonly path: string; readonly signal: AbortSignal | null | undefined; readonly tag: string | null }[] =
  [];
let status = 200;

const paths = () => asked.map(({ path }) => path);

beforeEach(() => {
  asked = [];
  status = 200;
  forgetQueries();
  globalThis.fetch = (async (path: string, { signal, headers }: RequestInit) => {
    const tag = new Headers(headers).get("if-none-match");
    asked.push({ path, signal, tag });
    const count = asked.length;
    await Promise.resolve();
    if (status === 304) return new Response(null, { status });
    return Response.json({ path, count }, { status, headers: { etag: `"${count}"` } });
  }) as typeof fetch;
});
afterEach(() => {
  globalThis.fetch = usual;
});

test("readers of a path share a request, and a later one sends its own", async () => {
  const [one, other] = await Promise.all([query("/a"), query("/a"), query("/b")]);
  expect(one).toBe(other);
  expect(paths()).toEqual(["/a", "/b"]);
  await query("/a");
  expect(paths()).toEqual(["/a", "/b", "/a"]);
});

test("after a change a request that began before does not count", async () => {
  const before = query("/a");
  const after = query("/a", { again: true });
  expect([await before, await after]).toEqual([
    { path: "/a", count: 1 },
    { path: "/a", count: 2 },
  ]);
  // Whichever arrives first, the later request is the one whose answer is kept.
  expect(lastAnswer("/a")).toEqual({ path: "/a", count: 2 });
});

test("an answer that has not changed is the same object", async () => {
  const first = await query("/a");
  status = 304;
  expect(await query("/a")).toBe(first);
  expect(asked.map(({ tag }) => tag)).toEqual([null, '"1"']);
  expect(lastAnswer("/a")).toBe(first);
});

test("large integers keep their digits", async () => {
  globalThis.fetch = () => Promise.resolve(new Response('{"seed":12345678901234567890}'));
  expect(await query("/a")).toEqual({ seed: 12_345_678_901_234_567_890n });
});

test("a request ends when its last reader has left", async () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const answers = [one, other].map(({ signal }) => query("/a", { signal }));
  one.abort();
  await expect(answers[0]).rejects.toThrow("abort");
  expect(asked[0]!.signal!.aborted).toBe(false);
  other.abort();
  await expect(answers[1]).rejects.toThrow("abort");
  expect(asked[0]!.signal!.aborted).toBe(true);
  expect(await query("/a")).toEqual({ path: "/a", count: 2 });
});

test("data requested ahead is not requested again, once", async () => {
  const made = queryAhead("/a");
  void queryAhead("/a");
  expect(takeAhead("/a")).toBeUndefined();
  expect(await query("/a")).toEqual({ path: "/a", count: 1 });
  await made;
  expect(paths()).toEqual(["/a"]);
  expect(await query("/a")).toEqual({ path: "/a", count: 2 });
});

test("an answer that has arrived ahead is taken immediately, by the very path", async () => {
  await queryAhead("/a?x=1");
  expect(takeAhead("/a")).toBeUndefined();
  expect(takeAhead("/a?x=1")).toEqual({ path: "/a?x=1", count: 1 });
  expect(takeAhead("/a?x=1")).toBeUndefined();
  await queryAhead("/b");
  expect(await query("/b")).toEqual({ path: "/b", count: 2 });
  expect(await query("/b")).toEqual({ path: "/b", count: 3 });
});

test("a refused request is sent again, and no data of another session is left", async () => {
  status = 401;
  await queryAhead("/a");
  status = 200;
  expect(await query("/a")).toEqual({ path: "/a", count: 2 });
  await queryAhead("/b");
  const late = query("/c");
  forgetQueries();
  await late;
  expect([takeAhead("/b"), lastAnswer("/a"), lastAnswer("/c")]).toEqual([undefined, undefined, undefined]);
});

test("a reader that has left gets no answer", async () => {
  void queryAhead("/a");
  const ending = new AbortController();
  const answer = query("/a", { signal: ending.signal });
  ending.abort();
  await expect(answer).rejects.toThrow("abort");
});

test("an answer that nothing read for long is too old", async () => {
  jest.useFakeTimers({ doNotFake: ["nextTick", "queueMicrotask"] });
  try {
    await queryAhead("/a");
    await queryAhead("/b");
    jest.advanceTimersByTime(10_001);
    expect(takeAhead("/a")).toBeUndefined();
    expect(await query("/b")).toEqual({ path: "/b", count: 3 });
  } finally {
    jest.useRealTimers();
  }
});
