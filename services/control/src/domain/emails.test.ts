import { expect, test } from "@jest/globals";
import { emailHint, readEmail } from "./emails.ts";
import { refusalOf } from "./refusal.testing.ts";

test.each([
  ["ada@example.org", "ada@example.org"],
  ["  Ada.L+x@Example.ORG ", "ada.l+x@example.org"],
  ["local@localhost", "local@localhost"],
  ["用户@例子.中国", "用户@例子.中国"],
])("%j is the address %s", (text, email) => expect(readEmail(text)).toBe(email));

test.each([
  "",
  "ada",
  "@example.org",
  "ada@",
  "a@b@c",
  "a b@c.org",
  "a@b c",
  "<a@b.org>",
  "a@b,c@d",
  `${"x".repeat(250)}@b.org`,
])("%j is no address", (text) =>
  expect(refusalOf(() => readEmail(text, "seat"))).toMatchObject({ reason: "bad_request", field: "seat" }),
);

test.each([
  ["ada@example.org", "a***@example.org"],
  ["é@x.org", "é***@x.org"],
])("%s is recognised by %s", (email, hint) => expect(emailHint(email)).toBe(hint));
