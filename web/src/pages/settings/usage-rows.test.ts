import { expect, test } from "@jest/globals";
import { storageRows, usageRows } from "./usage-rows.ts";

test("usage is shown with the included amount, where there is a limit", () => {
  const usage = { seats: 1, runs: 150, api_keys: 2, storage_bytes_for_write_gate: 1_000_000 };
  const limits = { included_seats: 2, runs: 100, included_storage_bytes: null };
  expect(usageRows({ plan_tier: "free", usage, limits })).toEqual([
    { label: "Members", used: "1", included: "2", share: 0.5 },
    { label: "Runs", used: "150", included: "100", share: 1 },
    { label: "Storage", used: "1 MB", included: "no limit", share: undefined },
    { label: "API keys", used: "2", included: "", share: undefined },
  ]);
});

test("versions of artifacts are counted apart from the artifacts of runs, with their bytes", () => {
  const usage = { raw_artifacts: 2, artifact_versions_active: 1, versioned_artifact_bytes_active: 3_000_000 };
  expect(usageRows({ plan_tier: "free", usage, limits: {} }).map(({ label, used }) => [label, used])).toEqual([
    ["Run artifacts", "2"],
    ["Artifact versions", "1"],
    ["Size of artifact versions", "3 MB"],
  ]);
});

test("storage is shown by kind, the largest first, without empty kinds", () => {
  const usage = { storage_bytes_by_kind: { artifacts: 0, logs: 1_000_000, attributes: 3_000_000, later: 4 } };
  expect(storageRows({ usage: usage as never })).toEqual([
    { label: "Attributes", used: "3 MB", share: 3_000_000 / 4_000_004 },
    { label: "Console logs", used: "1 MB", share: 1_000_000 / 4_000_004 },
    { label: "later", used: "4 B", share: 4 / 4_000_004 },
  ]);
});
