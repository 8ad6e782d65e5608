import { expect, test } from "@jest/globals";
import { readAudit } from "./audit.rules.ts";

const report = (advisories: object) =>
  JSON.stringify({ advisories, metadata: { vulnerabilities: { low: 0, moderate: 0, high: 0, critical: 0 } } });
const advisory = (severity: string) => ({ module_name: "left", severity, title: "Everything", url: "x" });

test("an answer without advisories passes, and one with small ones", () => {
  expect(readAudit(report({}))).toEqual({ advisories: [] });
  expect(readAudit(report({ 1: advisory("low"), 2: advisory("moderate") }))).toEqual({ advisories: [] });
});

test.each(["high", "critical"])("a known advisory of severity %s fails", (severity) => {
  expect(readAudit(report({ 1: advisory("low"), 2: advisory(severity) }))).toEqual({
    advisories: [`left: Everything (${severity}, x)`],
  });
});

test.each([
  [
    "no audit in the registry",
    "ERR_PNPM_AUDIT_BAD_RESPONSE The audit endpoint (at https://r.example/x) responded with 405: {}",
  ],
  ["a report of another form", '{"error": "not found"}'],
  ["a cut report", '{"advisories": {'],
  ["nothing", ""],
])("%s is not taken for a clean audit", (_name, output) => {
  const audit = readAudit(output);
  expect(audit).toEqual({ unasked: expect.any(String) });
  expect(JSON.stringify(audit)).not.toContain("https://");
});
