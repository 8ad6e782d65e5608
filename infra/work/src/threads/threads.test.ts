import { afterEach, describe, expect, test } from "@jest/globals";
import { underDeadline } from "../deadline/deadline.ts";
import { AppError } from "@tidemark/errors";
import type { TestTask } from "./tasks-thread.fixture.ts";
import { createThreads, type Threads } from "./threads.ts";

type TestThreads = Threads<TestTask, Float64Array | undefined>;

const opened: TestThreads[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});

const LONG_MS = 600_000;
const open = (threads: number, limits: { runMsMax?: number; waitMsMax?: number } = {}): TestThreads => {
  const made = createThreads<TestTask, Float64Array | undefined>({
    entry: new URL("./tasks-thread.fixture.ts", import.meta.url),
    threads,
    runMsMax: LONG_MS,
    waitMsMax: LONG_MS,
    totalMsMax: LONG_MS,
    tooLong: () => new AppError("bad_request", "too long"),
    tooMany: () => new AppError("service_unavailable", "too many"),
    ...limits,
  });
  opened.push(made);
  return made;
};

const flag = () => new Int32Array(new SharedArrayBuffer(4));
const raise = (one: Int32Array): void => {
  Atomics.store(one, 0, 1);
  Atomics.notify(one, 0);
};
const waiting = (threads: TestThreads, orgId: string, until: Int32Array) =>
  threads.run(orgId, () => ({ value: { kind: "wait until", flag: until } }));
const double = (threads: TestThreads, orgId: string, ...numbers: number[]) =>
  threads.run(orgId, () => {
    const own = Float64Array.from(numbers);
    return { value: { kind: "double", numbers: own }, transfer: [own.buffer] };
  });

test("each task is answered with its own result", async () => {
  const threads = open(2);
  const results = await Promise.all(Array.from({ length: 20 }, (_, n) => double(threads, `org ${n % 3}`, n)));
  expect(results.map((numbers) => numbers?.[0])).toEqual(Array.from({ length: 20 }, (_, n) => 2 * n));
});

test("organizations take turns", async () => {
  const threads = open(1);
  const first = flag();
  const done: string[] = [];
  const blocking = waiting(threads, "A", first);
  const others = ["A1", "A2", "B1", "B2", "C1"].map(async (name) => {
    await double(threads, name.charAt(0), 1);
    done.push(name);
  });
  raise(first);
  await Promise.all([blocking, ...others]);
  expect(done).toEqual(["B1", "C1", "A1", "B2", "A2"]);
});

test("one organization leaves the last of several threads to others", async () => {
  const threads = open(3);
  const held = flag();
  const own = Array.from({ length: 5 }, () => waiting(threads, "A", held));
  expect(await double(threads, "B", 3)).toEqual(Float64Array.of(6));
  raise(held);
  await Promise.all(own);
});

describe("a task", () => {
  test("that is refused in its thread is refused where it was given, with its field", async () => {
    await expect(open(1).run("A", () => ({ value: { kind: "refuse" } }))).rejects.toMatchObject({
      name: "AppError",
      reason: "bad_request",
      message: "not this one",
      field: "field",
    });
  });

  test("that fails is logged as an error, and the thread continues", async () => {
    const threads = open(1);
    await expect(threads.run("A", () => ({ value: { kind: "fail" } }))).rejects.toThrow(/failed in its thread.*fault/s);
    expect(await double(threads, "A", 1)).toEqual(Float64Array.of(2));
  });

  test("that does not end in time ends with its thread, and the next one has another", async () => {
    const threads = open(1, { runMsMax: 200 });
    await expect(threads.run("A", () => ({ value: { kind: "spin" } }))).rejects.toThrow("too long");
    // It may take the new thread longer to begin than a task may take.
    for (;;) {
      const result = await double(threads, "A", 1).catch(() => undefined);
      if (result !== undefined) break;
    }
  });

  test("that has no turn in time is refused", async () => {
    const threads = open(1, { waitMsMax: 50 });
    const held = flag();
    const first = waiting(threads, "A", held);
    await expect(double(threads, "A", 1)).rejects.toMatchObject({ reason: "service_unavailable" });
    raise(held);
    await first;
  });

  test.each([
    ["leaves", 10_000, true],
    ["has no more time", 50, false],
  ])("that waits while its caller %s is not begun", async (_what, ms, leaves) => {
    const threads = open(1);
    const [held, client] = [flag(), new AbortController()];
    const first = waiting(threads, "A", held);
    let begun = false;
    const send = () => {
      begun = true;
      return { value: { kind: "refuse" } } as const;
    };
    const given = underDeadline(Date.now() + ms, () => threads.run("A", send), { left: client.signal });
    if (leaves) client.abort();
    await expect(given).rejects.toMatchObject({ reason: "deadline_exceeded" });
    raise(held);
    await first;
    expect(await double(threads, "A", 1)).toEqual(Float64Array.of(2));
    expect(begun).toBe(false);
  });
});

test("closed threads reject running, waiting and later tasks", async () => {
  const threads = open(1);
  const faults = [1, 2].map(() => waiting(threads, "A", flag()).catch((error: Error) => error.message));
  await threads.close();
  expect(await Promise.all(faults)).toEqual(["a thread ended", "the threads were closed"]);
  await expect(double(threads, "A", 1)).rejects.toThrow("the threads are closed");
});
