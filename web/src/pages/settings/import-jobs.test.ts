import { expect, test } from "@jest/globals";
import { importLook, isOpen, type ImportJob } from "./import-jobs.ts";

const job: ImportJob = {
  id: 1,
  source_type: "wandb",
  target_project: "p",
  status: "committed",
  summary: { runs: 2 },
  warnings: [],
  error_summary: null,
  progress: { batches: 0, batches_done: 0, chunks: 3 },
  updated_at: "",
};

test("an import that is done shows its runs and its warnings", () => {
  expect(importLook(job)).toEqual({ kind: "good", label: "Done", progress: "2 runs", share: undefined });
  expect(importLook({ ...job, warnings: [{ message: "x" }] }).progress).toBe("2 runs, 1 warning");
});

test("a commit shows its progress", () => {
  const progress = { batches: 4, batches_done: 1, chunks: 3 };
  expect(importLook({ ...job, status: "committing", progress })).toMatchObject({
    progress: "1 of 4 batches",
    share: 0.25,
  });
});

test("an upload shows its chunks", () => {
  expect(importLook({ ...job, status: "uploading", summary: {} }).progress).toBe("3 chunks");
});

test.each([
  ["created", true],
  ["uploading", true],
  ["dry_run_ready", true],
  ["committing", true],
  ["committed", false],
  ["completed", false],
  ["failed", false],
  ["cancelled", false],
])("%s may still change: %s", (status, open) => {
  expect(isOpen(status)).toBe(open);
});
