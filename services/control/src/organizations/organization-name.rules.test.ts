import { describe, expect, test } from "@jest/globals";
import { refusalOf } from "../refusal.fixture.ts";
import { personalName, readSlug, slugOf, withSuffix } from "./people.rules.ts";

describe("the short name of a name", () => {
  test.each([
    ["Acme", "acme"],
    ["Café & Söhne GmbH", "cafe-sohne-gmbh"],
    ["  --a__b--  ", "a-b"],
    ["R2 D2!", "r2-d2"],
    ["ﬁne ①", "fine-1"],
    ["x".repeat(80), "x".repeat(63)],
    [`${"x".repeat(62)} y`, "x".repeat(62)],
    ["株式会社", "org-e6843c6eb529"],
  ])("of %j is %s", (name, slug) => {
    expect(slugOf(name)).toBe(slug);
    expect(readSlug(slug)).toBe(slug);
  });

  test("of two names in another script differs", () => expect(slugOf("東京")).not.toBe(slugOf("大阪")));
});

test.each(["", "!!!", " - "])("%j is not a name", (name) => {
  expect(refusalOf(() => slugOf(name))).toMatchObject({ reason: "bad_request", field: "name" });
});

test.each(["", "-a", "a-", "A", "a_b", "a.b", "ä", "x".repeat(64)])("%j is not a short name", (text) => {
  expect(refusalOf(() => readSlug(text))).toMatchObject({ reason: "bad_request", field: "slug" });
});

test.each(["a", "7", "a-b", "x".repeat(63)])("%j is a short name", (text) => expect(readSlug(text)).toBe(text));

test.each([
  ["acme", "1a2b3c", "acme-1a2b3c"],
  ["x".repeat(63), "1a2b3c", `${"x".repeat(56)}-1a2b3c`],
  [`${"x".repeat(55)}-yyyyyyy`, "1a2b3c", `${"x".repeat(55)}-1a2b3c`],
])("%s with a suffix stays a short name", (slug, suffix, result) => {
  expect(withSuffix(slug, suffix)).toBe(result);
  expect(readSlug(result)).toBe(result);
});

test.each([
  ["ada@example.org", "Ada Lovelace", "Ada Lovelace"],
  ["ada@example.org", "", "ada"],
  ["ada@example.org", "***", "ada"],
  ["_@example.org", "***", "Personal"],
])("an organization of %s, called %j, is named %s", (email, name, result) => {
  expect(personalName(email, name)).toBe(result);
});
