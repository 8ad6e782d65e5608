import { expect, test } from "@jest/globals";
import { readRetention, requireConfirmation } from "./retention.rules.ts";

test.each([
  ["", undefined, "inherit"],
  ["inherit", undefined, "inherit"],
  ["keep_forever", undefined, "keep_forever"],
  ["forever", undefined, "keep_forever"],
  ["none", undefined, "none"],
  ["days", 1, "days"],
  ["days", 3650, "days"],
])("retention %j with ttl_days %j is %s", (text, ttlDays, mode) => {
  expect(readRetention(text, ttlDays)).toEqual({ mode, ttlDays });
});

test.each([
  ["toString", undefined, "retention_mode"],
  ["Days", 3, "retention_mode"],
  ["inherit", 3, "ttl_days"],
  ["none", 3, "ttl_days"],
  ["forever", 3, "ttl_days"],
  ["days", undefined, "ttl_days"],
  ["days", 0, "ttl_days"],
  ["days", 3651, "ttl_days"],
])("retention %j with ttl_days %j is refused", (text, ttlDays, field) => {
  expect(() => readRetention(text, ttlDays)).toThrow(expect.objectContaining({ reason: "bad_request", field }));
});

test.each([
  ["another text", { confirm: "b", reason: "r" }, "confirm"],
  ["no text", { confirm: "", reason: "r" }, "confirm"],
  ["no reason", { confirm: "a", reason: "" }, "reason"],
  ["a blank reason", { confirm: "a", reason: " \t" }, "reason"],
])("a confirmation with %s is refused", (_what, sent, field) => {
  expect(() => requireConfirmation(sent, "a", "the alias")).toThrow(
    expect.objectContaining({ reason: "bad_request", field }),
  );
});
