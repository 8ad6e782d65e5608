import { expect, test } from "@jest/globals";
import { mayAs, type Right } from "./session.ts";

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
