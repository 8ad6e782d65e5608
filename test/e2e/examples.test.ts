import { join } from "node:path";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { requirePython } from "@tidemark/testkit";
import {
  aggregatesOf,
  callsOf,
  leaves,
  listed,
  loggedMetrics,
  readAttributes,
  readLines,
  readMetrics,
  readRun,
} from "../examples/logged.ts";
import { type Fate, startPoorNetwork } from "../examples/poor-network.ts";
import { type ExampleRun, printedLines, type Report, runExample } from "../examples/run-example.ts";
import { describeWith, testDeep } from "../stack/describe-with.ts";
import type { Api } from "../stack/client.ts";
import { describeModes } from "../stack/modes.ts";
import type { Stack } from "../stack/attach.ts";
import { limited } from "../stack/settings.ts";
import { sharedStack } from "../stack/shared-stacks.ts";

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const examples = join(import.meta.dirname, "../../examples");

const environment = await requirePython({
  requirements: join(examples, "python/requirements.txt"),
  leftOut: "the unmodified instantml SDK (examples/python) against a server",
});
const describePython = describeWith(environment);

/** Trains through the published SDK. */
function trainInPython(url: string, key: string): Promise<ExampleRun> {
  if (environment === undefined) throw new Error("no Python");
  const settings = { INSTANTML_API_BASE_URL: url, INSTANTML_API_KEY: key };
  return runExample(environment.python, [join(examples, "python/train_digits.py")], settings);
}

/** Trains with fetch. */
function trainInTypeScript(url: string, key: string, started?: (interrupt: () => void) => void): Promise<ExampleRun> {
  const settings = { TIDEMARK_URL: url, TIDEMARK_API_KEY: key };
  return runExample(process.execPath, [join(examples, "typescript/train.ts")], settings, started);
}

/** The report of an example that worked as expected. */
function reportOf({ code, stderr, report }: ExampleRun): Report {
  if (code !== 0 || report === undefined) throw new Error(`the example ended with ${code}:\n${stderr}`);
  return report;
}

/** All logged points are there, in order, once, and the run's aggregates agree with them. */
async function expectMetrics(api: Api, { run_id, calls }: Report): Promise<void> {
  const logged = loggedMetrics(calls);
  const keys = Object.keys(logged);
  expect(await readMetrics(api, run_id, keys)).toEqual(logged);
  const { metric_aggregates: aggregates, latest_metrics: latest } = await readRun(api, run_id);
  for (const key of keys) {
    const expected = aggregatesOf(key, logged[key] ?? []);
    expect(aggregates).toHaveProperty([key], expect.objectContaining(expected));
    expect(latest).toHaveProperty([key], expected["latest"]);
  }
}

/** The messages of a stream are these, numbered from 1. */
async function expectLines(
  api: Api,
  id: string,
  stream: "stdout" | "stderr",
  messages: readonly unknown[],
  captured: readonly string[] = [],
): Promise<void> {
  const lines = await readLines(api, id, stream);
  expect(lines.map(({ line_number }) => line_number)).toEqual(
    lines.map(({ line_number }) => line_number).toSorted((a, b) => a - b),
  );
  // The logged lines were never printed.
  expect(lines.map(({ message }) => message).filter((message) => captured.includes(message))).toEqual(captured);
  const logged = lines.filter(({ message }) => !captured.includes(message));
  expect(logged.map(({ line_number, message }) => [line_number, message])).toEqual(
    messages.map((message, index) => [index + 1, message]),
  );
  for (const line of lines) expect(line).toMatchObject({ stream, timestamp: expect.stringMatching(RFC3339) });
}

const values = async (api: Api, id: string, type: string): Promise<unknown[][]> =>
  (await readAttributes(api, id, type)).map(({ path, value, step }) => [path, value, step]);

describeModes("the examples", (stack) => {
  describePython("in Python through the SDK", () => {
    let api: Api;
    let run: ExampleRun;
    let report: Report;
    beforeAll(async () => {
      const { key, api: own } = await stack().organization();
      api = own;
      run = await trainInPython(stack().baseUrl, key);
      report = reportOf(run);
    });

    test("the run is finished and keeps its configuration to the last digit, tags, notes and source", async () => {
      const { project, config, tags, notes } = report.init;
      const found = await readRun(api, report.run_id);
      expect(found).toMatchObject({ id: report.run_id, project, tags, notes, status: "finished", resume_count: 0 });
      expect(found).toMatchObject({ run_control: { display_status: "finished", stop_requested: false } });
      expect(found["config"]).toEqual(config);
      expect(found["config"]).toMatchObject({ seed: 20_260_131_857_142_857_143n });
      expect(found["finished_at"]).toMatch(RFC3339);
      const off = { command: false, paths: false, branch: false, hostname: false, pid: false, git_diff: false };
      expect(found["metadata"]).toEqual({
        python: expect.stringMatching(/^3\.\d+\.\d+/),
        platform: expect.any(String),
        notes,
        _rlobs: { source: { capture: off, git: { available: false }, entrypoint: "train_digits.py" } },
      });
      expect((await api.get("/runs?project=digits")).json.runs).toMatchObject([{ id: report.run_id }]);
    });

    test("every loss and accuracy is read back, and so are the aggregates", async () => {
      const logged = loggedMetrics(report.calls);
      expect(Object.keys(logged).toSorted()).toEqual(["epoch", "test/accuracy", "train/accuracy", "train/loss"]);
      expect(logged["train/loss"]?.length).toBeGreaterThan(200);
      // The model has learned: these are not made-up numbers.
      expect(logged["test/accuracy"]?.at(-1)?.[1]).toBeGreaterThan(0.9);
      await expectMetrics(api, report);
    });

    test("a series is read back for a chart", async () => {
      const answer = await api.post("/api/metrics/series", { key: "train/loss", run_ids: [report.run_id] });
      expect(answer).toMatchObject({ status: 200, json: { run_count: 1 } });
      const points: { step: number; value: number; timestamp: string }[] = answer.json.series[0].metrics;
      expect(points.map(({ step, value }) => [step, value])).toEqual(loggedMetrics(report.calls)["train/loss"]);
      // The SDK stamps every point when it is logged, to the microsecond. Without the Z the texts sort as the times do.
      for (const { timestamp } of points) expect(timestamp).toMatch(RFC3339);
      const stamps = points.map(({ timestamp }) => timestamp.slice(0, -1));
      expect(stamps).toEqual(stamps.toSorted());
    });

    test("besides these there are only the SDK's own samples, of the machine and of its queue", async () => {
      const { metric_keys: keys, latest_metrics: latest } = await readRun(api, report.run_id);
      const logged = Object.keys(loggedMetrics(report.calls));
      const others = (keys as string[]).filter((key) => !logged.includes(key));
      for (const key of others) expect(key).toMatch(/^system\//);
      expect(others).toEqual(expect.arrayContaining(["system/cpu_percent", "system/process_rss_bytes"]));
      expect(latest).toMatchObject({ "system/instantml/failed_events": 0, "system/instantml/dropped_events": 0 });
    });

    test("log_config and add_tags are attributes", async () => {
      const facts = callsOf(report.calls, "log_config").flatMap(({ args }) => leaves(args[0], "config"));
      expect(facts.length).toBeGreaterThan(4);
      expect(await values(api, report.run_id, "config")).toEqual(facts.map(([path, value]) => [path, value, null]));
      const grouped = listed(report.calls, "add_tags", ({ kwargs }) => kwargs?.["group_tags"] === true);
      const single = listed(report.calls, "add_tags", ({ kwargs }) => kwargs?.["group_tags"] !== true);
      expect(await readAttributes(api, report.run_id, "tag")).toMatchObject([
        ...single.map((value) => ({ path: "sys/tags", value, step: null, summary: { group: false } })),
        ...grouped.map((value) => ({ path: "sys/group_tags", value, step: null, summary: { group: true } })),
      ]);
    });

    test("log_stdout and log_stderr are console lines, and so is what was captured", async () => {
      const messages = listed(report.calls, "log_stdout");
      expect(messages.length).toBeGreaterThan(10);
      await expectLines(api, report.run_id, "stdout", messages, printedLines(run.stdout));
      const logged = listed(report.calls, "log_stderr");
      await expectLines(api, report.run_id, "stderr", logged, printedLines(run.stderr));
    });

    test("every line that was printed was captured, at the step of its moment", async () => {
      const captured = await values(api, report.run_id, "string_series");
      const ends = (loggedMetrics(report.calls)["epoch"] ?? []).map(([step]) => step);
      const printed = printedLines(run.stdout);
      expect(printed).toHaveLength(ends.length + 1);
      expect(captured.filter(([path]) => path === "console/stdout")).toEqual(
        printed.map((line, index) => ["console/stdout", line, [0, ...ends][index]]),
      );
      const errors = printedLines(run.stderr);
      expect(errors).toEqual([expect.stringContaining("test images were misread")]);
      expect(captured.filter(([path]) => path === "console/stderr")).toEqual([
        ["console/stderr", errors[0], ends.at(-1)],
      ]);
    });
  });

  describe("in TypeScript with fetch", () => {
    let api: Api;
    let run: ExampleRun;
    let report: Report;
    beforeAll(async () => {
      const { key, api: own } = await stack().organization();
      api = own;
      run = await trainInTypeScript(stack().baseUrl, key);
      report = reportOf(run);
    });

    test("the run is finished and keeps its configuration, tags and metadata", async () => {
      const { project, config, tags, metadata } = report.init;
      const found = await readRun(api, report.run_id);
      expect(found).toMatchObject({ id: report.run_id, project, tags, notes: null, status: "finished" });
      expect(found["config"]).toEqual(config);
      expect(found["metadata"]).toEqual(metadata);
      expect(found["finished_at"]).toMatch(RFC3339);
    });

    test("every value is read back, and so are the aggregates; there are no others", async () => {
      const logged = loggedMetrics(report.calls);
      expect(logged["train/loss"]?.length).toBeGreaterThan(150);
      expect(logged["test/accuracy"]?.at(-1)?.[1]).toBeGreaterThan(0.9);
      await expectMetrics(api, report);
      expect((await readRun(api, report.run_id))["metric_keys"]).toEqual(Object.keys(logged).toSorted());
    });

    test("facts are attributes, and what it printed are console lines", async () => {
      const facts = callsOf(report.calls, "describe").flatMap(({ args }) => Object.entries(args[0] as object));
      expect(facts.length).toBeGreaterThan(1);
      expect(await values(api, report.run_id, "config")).toEqual(facts.map(([path, value]) => [path, value, null]));
      const printed = callsOf(report.calls, "print").map(({ args }) => args[0]);
      expect(printedLines(run.stdout)).toEqual(printed);
      await expectLines(api, report.run_id, "stdout", printed);
      expect(printedLines(run.stderr)).toEqual([`run ${report.run_id}`]);
    });

    test("a key that is not good is one error and no run", async () => {
      const { key } = await stack().organization();
      const refused = await trainInTypeScript(stack().baseUrl, `${key.slice(0, -1)}!`);
      expect(refused).toMatchObject({ code: 1, report: undefined });
      expect(refused.stderr).toContain("POST /runs: 401");
      expect(refused.stderr).not.toContain("once more");
    });
  });
});

describe("the examples under difficulties", () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await sharedStack("embedded", limited);
  });

  /** Decides about requests to matching paths, in turn: some get through, one is told to retry later, and the answer to one is lost. */
  const everyNow = (pattern: RegExp, period: number): ((method: string, path: string) => Fate) => {
    let count = 0;
    return (_method, path) => {
      if (!pattern.test(path)) return "deliver";
      count += 1;
      if (count % period === 0) return "busy";
      return count % period === 1 ? "lose" : "deliver";
    };
  };

  testDeep("a rate limit slows the TypeScript example down and loses nothing", async () => {
    const { key, api } = await stack.organization({ plan: "free" });
    const run = await trainInTypeScript(stack.baseUrl, key);
    const report = reportOf(run);
    expect(run.stderr).toMatch(/429 .*"rate_limit_exceeded".*once more in \d+ ms/);
    await expectMetrics(api, report);
    await expectLines(api, report.run_id, "stdout", printedLines(run.stdout));
  });

  test("what the TypeScript example sends twice, because an answer was lost, counts once", async () => {
    const { key, api } = await stack.organization();
    const network = await startPoorNetwork(stack.baseUrl, everyNow(/^\/runs|\/logs$/, 5));
    const run = await trainInTypeScript(network.url, key);
    await network.stop();
    const report = reportOf(run);
    expect(network.fates.lose).toBeGreaterThan(3);
    expect(network.fates.busy).toBeGreaterThan(3);
    await expectMetrics(api, report);
    await expectLines(api, report.run_id, "stdout", printedLines(run.stdout));
    expect(await readRun(api, report.run_id)).toMatchObject({ status: "finished", config: report.init.config });
    expect((await api.get("/runs")).json.runs).toHaveLength(1);
  });

  test("Ctrl-C closes the run of the TypeScript example as failed", async () => {
    const { key, api } = await stack.organization();
    let interrupt = (): void => {};
    let batches = 0;
    const network = await startPoorNetwork(stack.baseUrl, (_method, path) => {
      if (path.endsWith("/batch") && ++batches === 3) interrupt();
      return "deliver";
    });
    const run = await trainInTypeScript(network.url, key, (how) => (interrupt = how));
    await network.stop();
    expect(run).toMatchObject({ code: 1, report: undefined, stderr: expect.stringContaining("Error: interrupted") });
    expect((await api.get("/runs")).json.runs).toMatchObject([{ status: "failed" }]);
    // Everything it had logged until then is there.
    expect(printedLines(run.stdout).length).toBeLessThan(12);
    const id = (await api.get("/runs")).json.runs[0].id as string;
    await expectLines(api, id, "stdout", printedLines(run.stdout));
  });

  describePython("in Python", () => {
    testDeep("what the SDK's queue sends twice, because an answer was lost, counts once", async () => {
      const { key, api } = await stack.organization();
      const network = await startPoorNetwork(stack.baseUrl, everyNow(/\/metrics$|\/logs$/, 80));
      const run = await trainInPython(network.url, key);
      await network.stop();
      const report = reportOf(run);
      expect(network.fates.lose).toBeGreaterThan(1);
      expect(network.fates.busy).toBeGreaterThan(1);
      await expectMetrics(api, report);
      await expectLines(api, report.run_id, "stdout", listed(report.calls, "log_stdout"), printedLines(run.stdout));
      expect(await readRun(api, report.run_id)).toMatchObject({ status: "finished" });
    });
  });
});
