import { expect, test } from "@jest/globals";
import type { LineOf } from "@tidemark/archive";
import { checkRow } from "./check-row.rules.ts";

const project = (created_at: string, name = "demo"): LineOf<"project"> => ({
  line: "project",
  id: "0198a8a0-0000-7000-8000-000000000001",
  name,
  description: undefined,
  created_at,
});

test.each(["0001-01-01T00:00:00Z", "2024-02-29T23:59:59.999999Z"])("a row of %s passes", (at) => {
  expect(() => checkRow(project(at))).not.toThrow();
});

test.each(["0000-01-01T00:00:00Z", "0000-12-31T23:59:59.999999Z", "2026-02-30T00:00:00Z"])(
  "a row of %s does not: there is no such day",
  (at) => {
    expect(() => checkRow(project(at))).toThrow(expect.objectContaining({ reason: "bad_request" }));
  },
);

test.each(["all", "ALL", " All\t"])("a project called %j does not pass", (name) => {
  expect(() => checkRow(project("2026-01-01T00:00:00Z", name))).toThrow(/must not be called all/);
});
