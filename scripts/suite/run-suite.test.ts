import { expect, test } from "@jest/globals";
import { type Suite, runSuite } from "./run-suite.ts";

const passes = (name: string) => ({ name, run: () => Promise.resolve({ exitCode: 0, output: "chatter" }) });
const fails = (name: string, output: string) => ({ name, run: () => Promise.resolve({ exitCode: 1, output }) });

/** Runs a suite and answers its verdict and its lines, seconds left out. */
async function run(parts: Partial<Suite>): Promise<{ passed: boolean; lines: readonly string[] }> {
  const lines: string[] = [];
  const passed = await runSuite({
    steps: [],
    runTests: () => Promise.resolve({ passed: 10, failed: 0, skipped: 0 }),
    missing: () => Promise.resolve([]),
    missingFails: false,
    print: (line) => lines.push(line.replace(/\(\d+\.\d s\)/, "(s)")),
    ...parts,
  });
  return { passed, lines };
}

test("each static step is a line and a test, and the count closes the run", async () => {
  expect(await run({ steps: [passes("format"), passes("types")] })).toEqual({
    passed: true,
    lines: ["ok     format (s)", "ok     types (s)", "12 passed, 0 failed"],
  });
});

test("a step that fails shows its output and stops neither the next nor the tests", async () => {
  expect(await run({ steps: [fails("format", "a.ts\n"), passes("types")] })).toEqual({
    passed: false,
    lines: ["FAILED format (s)", "a.ts", "ok     types (s)", "Failed before the tests: format", "11 passed, 1 failed"],
  });
});

test("two steps run at a time, and their lines are in order", async () => {
  const first = Promise.withResolvers<void>();
  const begun: string[] = [];
  const step = (name: string, run: () => unknown) => ({
    name,
    run: async () => {
      begun.push(name);
      await run();
      return { exitCode: 0, output: "" };
    },
  });
  const steps = [
    step("a", () => first.promise),
    step("b", () => undefined),
    step("c", () => first.resolve()),
    step("d", () => undefined),
  ];
  const { lines } = await run({ steps });
  expect(begun).toEqual(["a", "b", "c", "d"]);
  expect(lines.slice(0, 4)).toEqual(["a", "b", "c", "d"].map((name) => `ok     ${name} (s)`));
});

test("a step that cannot be run is a failure", async () => {
  const steps = [{ name: "lint", run: () => Promise.reject(new Error("no such program")) }];
  const { passed, lines } = await run({ steps });
  expect(passed).toBe(false);
  expect(lines).toContain("Error: no such program");
  expect(lines.at(-1)).toBe("10 passed, 1 failed");
});

test("a step without an answer is printed twice, and is neither passed nor failed", async () => {
  const audit = { name: "audit", run: () => Promise.resolve({ exitCode: 0, output: "", unasked: "405" }) };
  expect(await run({ steps: [audit, passes("types")], missingFails: true })).toEqual({
    passed: true,
    lines: [
      "NOT CHECKED audit (s): 405",
      "ok     types (s)",
      "Could not be asked, so not checked:",
      "- audit: 405",
      "11 passed, 0 failed",
    ],
  });
});

test("a failed or skipped test is in the count", async () => {
  const runTests = () => Promise.resolve({ passed: 7, failed: 1, skipped: 2 });
  expect(await run({ runTests })).toEqual({ passed: false, lines: ["7 passed, 1 failed, 2 skipped"] });
});

test("static steps alone run no tests", async () => {
  expect((await run({ steps: [passes("format")], runTests: undefined })).lines.at(-1)).toBe("1 passed, 0 failed");
});

test("steps that could not be tested are reported and do not fail", async () => {
  expect(await run({ missing: () => Promise.resolve(["Python: the SDK"]) })).toEqual({
    passed: true,
    lines: ["Not tested on this machine:", "- Python: the SDK", "10 passed, 0 failed"],
  });
});

test("on a machine that the suite equips, everything missing is a failure", async () => {
  const missing = () => Promise.resolve(["Python: the SDK", "nats-server: split mode"]);
  const { passed, lines } = await run({ missing, missingFails: true });
  expect(passed).toBe(false);
  expect(lines.at(-1)).toBe("10 passed, 2 failed");
});
