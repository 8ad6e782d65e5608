import { expect, test } from "@jest/globals";
import { mayAs, mayChange, roleOptions, type Right } from "./session.ts";

const all: readonly Right[] = ["write", "control", "delete", "import", "usage", "keys", "people"];
const rightsOf = (role: string | undefined, scopes: readonly string[] = []): readonly Right[] =>
  all.filter((right) => mayAs(right, { role, scopes }));

test("a viewer may only look", () => {
  expect(rightsOf("viewer")).toEqual([]);
});

test("a member writes, controls, deletes runs and imports", () => {
  expect(rightsOf("member")).toEqual(["write", "control", "delete", "import"]);
});

test("owners and admins may do everything", () => {
  expect(rightsOf("owner")).toEqual(all);
  expect(rightsOf("admin")).toEqual(all);
});

test("the session of a key may do what its scopes say", () => {
  expect(rightsOf(undefined, ["export:read"])).toEqual(["usage"]);
  expect(rightsOf(undefined, ["sdk:ingest"])).toEqual(["write", "import"]);
  expect(rightsOf(undefined, ["runs:control", "api_keys:write"])).toEqual(["control", "delete", "keys"]);
});

test("owners change all members, admins all but owners, others none", () => {
  const changed = (own: "owner" | "admin" | "member" | undefined) => roleOptions(own).map(({ value }) => value);
  expect(changed("owner")).toEqual(["owner", "admin", "member", "viewer"]);
  expect(changed("admin")).toEqual(["admin", "member", "viewer"]);
  expect(changed("member")).toEqual([]);
  expect(mayChange(undefined, "viewer")).toBe(false);
});
