import { afterEach, beforeEach, expect, jest, test } from "@jest/globals";
import { startRunner, type Runner } from "./runner.ts";

beforeEach(() => void jest.useFakeTimers({ doNotFake: ["setImmediate", "nextTick", "queueMicrotask"] }));
let runner: Runner<string> | undefined;
let ends = new Map<string, (end: boolean | Error) => void>();
afterEach(async () => {
  for (const end of ends.values()) end(false);
  await runner?.drain();
  jest.useRealTimers();
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A runner of at most two jobs that end when the test says so; a job is named after its key: `a1`, `a2` have the key `a`. */
function start(due: string[] = []) {
  const begun: string[] = [];
  const looks: number[] = [];
  const errors: string[] = [];
  ends = new Map();
  const stopped: boolean[] = [];
  runner = startRunner<string>({
    keyOf: (name) => name.charAt(0),
    jobsMax: 2,
    lookMs: 1000,
    listDue(jobsMax) {
      looks.push(jobsMax);
      return Promise.resolve(due.slice(0, jobsMax));
    },
    async run(name, isStopped) {
      begun.push(name);
      const end = await new Promise<boolean | Error>((resolve) => ends.set(name, resolve));
      stopped.push(isStopped());
      if (end instanceof Error) throw end;
      return end;
    },
    onError: (error) => errors.push((error as Error).message),
  });
  const end = async (name: string, how: boolean | Error): Promise<void> => {
    due.splice(0, due.length, ...due.filter((one) => one !== name));
    ends.get(name)!(how);
    await settled();
  };
  return { runner, begun, looks, errors, stopped, end };
}

test("it begins what is due, as many as there is room for, and looks again when one has ended", async () => {
  const { begun, looks, end } = start(["a1", "b1", "c1"]);
  await settled();
  expect([begun, looks]).toEqual([["a1", "b1"], [2]]);
  jest.advanceTimersByTime(1000);
  await settled();
  expect(looks).toEqual([2]);
  await end("a1", true);
  expect(looks).toEqual([2, 1]);
});

test("a job that continues later is looked up in the next round, not immediately", async () => {
  const { begun, looks, end } = start(["a1"]);
  await settled();
  ends.get("a1")!(false);
  await settled();
  expect([begun, looks]).toEqual([["a1"], [2]]);
  jest.advanceTimersByTime(1000);
  await settled();
  expect(begun).toEqual(["a1", "a1"]);
  await end("a1", true);
});

test("an announced job runs once, for any number of callers, and never simultaneously with another job of its key", async () => {
  const { runner: jobs, begun, end } = start();
  await settled();
  let done = 0;
  for (const name of ["a1", "a1", "a2"]) void jobs.begin(name).then(() => (done += 1));
  await settled();
  expect([begun, done]).toEqual([["a1"], 0]);
  await end("a1", true);
  expect(done).toBe(3);
});

test("without room, a job is left to a later round", async () => {
  const { runner: jobs, begun, looks, end } = start();
  await settled();
  for (const name of ["a1", "b1", "c1"]) void jobs.begin(name);
  await jobs.begin("c1");
  expect(begun).toEqual(["a1", "b1"]);
  await end("b1", true);
  expect(looks).toEqual([2, 1]);
});

test("an error of a job is reported, and its key is free", async () => {
  const { runner: jobs, begun, errors, end } = start();
  const job = jobs.begin("a1");
  await end("a1", new Error("gone"));
  await job;
  expect(errors).toEqual(["gone"]);
  void jobs.begin("a2");
  expect(begun).toEqual(["a1", "a2"]);
});

test("a drain waits for its jobs, which can see it, and begins no other", async () => {
  const { runner: jobs, begun, stopped, end } = start(["a1"]);
  await settled();
  let isOver = false;
  const drained = jobs.drain().then(() => (isOver = true));
  await jobs.begin("b1");
  await settled();
  expect([begun, isOver]).toEqual([["a1"], false]);
  await end("a1", true);
  await drained;
  expect([begun, stopped]).toEqual([["a1"], [true]]);
});
