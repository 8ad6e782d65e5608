import { expect, test } from "@jest/globals";
import { gaugeIn } from "./compaction-state.ts";

const text = `# HELP tidemark_compaction_rows_waiting About how many landing segments wait.
# TYPE tidemark_compaction_rows_waiting gauge
tidemark_compaction_rows_waiting{kind="logs",service="tidemark"} 5
tidemark_compaction_rows_waiting{kind="metrics",service="tidemark"} 12.5
`;

test("a gauge is found by its label", () => {
  expect(gaugeIn(text, "tidemark_compaction_rows_waiting", 'kind="metrics"')).toBe(12.5);
});

test.each([
  ["another name", "tidemark_compaction_lag_seconds", 'kind="metrics"'],
  ["another label", "tidemark_compaction_rows_waiting", 'kind="traces"'],
])("%s is not there", (_what, name, label) => {
  expect(gaugeIn(text, name, label)).toBeUndefined();
});
