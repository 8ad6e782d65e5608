import { describe, expect, test } from "@jest/globals";
import { scopes } from "@tidemark/credentials";
import { refusalOf } from "../refusal.fixture.ts";
import { emailHint, isAdmin, readEmail, readInvitedRole, scopesOfRole, type Role } from "./people.rules.ts";

const roles: readonly Role[] = ["owner", "admin", "member", "viewer"];

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
])("%j is not an address", (text) =>
  expect(refusalOf(() => readEmail(text, "seat"))).toMatchObject({ reason: "bad_request", field: "seat" }),
);

test.each([
  ["ada@example.org", "a***@example.org"],
  ["é@x.org", "é***@x.org"],
])("%s is recognized by %s", (email, hint) => expect(emailHint(email)).toBe(hint));

describe("a session may", () => {
  test.each(scopes.map((scope) => [scope] as const))("%s in the roles that the scope is for", (scope) => {
    const allowed: Record<string, string> = {
      "sdk:ingest": "owner admin member",
      "artifacts:write": "owner admin member",
      "runs:control": "owner admin member",
      "artifacts:manage": "owner admin",
      "imports:write": "owner admin member",
      "usage:read": "owner admin",
      "api_keys:write": "owner admin",
      "export:read": "owner admin member viewer",
    };
    expect(roles.filter((role) => scopesOfRole(role).includes(scope)).join(" ")).toBe(allowed[scope]);
  });

  test("manage people and keys as owner or admin", () => expect(roles.filter(isAdmin)).toEqual(["owner", "admin"]));
});

test.each([
  ["", "member"],
  ["admin", "admin"],
  ["viewer", "viewer"],
])("a person invited as %j is %s", (name, role) => expect(readInvitedRole(name)).toBe(role));

test.each(["owner", "root"])("the role %s cannot be given by an invitation", (name) => {
  expect(refusalOf(() => readInvitedRole(name))).toMatchObject({ reason: "bad_request", field: "role" });
});
