import { expect, test } from "@jest/globals";
import { isUuid } from "@tidemark/requests";
import { forkRunId } from "./fork-run-id.ts";

const org = "11111111-1111-4111-8111-111111111111";
const other = "22222222-2222-4222-8222-222222222222";

test("the id of a keyed fork follows from organization and key", () => {
  expect(forkRunId(org, "k")).toBe(forkRunId(org, "k"));
  const ids = [forkRunId(org, "k"), forkRunId(org, "l"), forkRunId(other, "k"), forkRunId(org, " k")];
  expect(new Set(ids).size).toBe(ids.length);
});

test("it is a UUID of version 8", () => {
  for (let i = 0; i < 100; i += 1) {
    const id = forkRunId(org, `key-${i}`);
    expect(isUuid(id)).toBe(true);
    expect(id).toMatch(/^.{14}8.{4}[89ab]/);
  }
});
