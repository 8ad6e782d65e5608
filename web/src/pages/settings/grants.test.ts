import { expect, test } from "@jest/globals";
import { endOf, mayChange, roleOptions } from "./grants.ts";

test("owners change all members, admins all but owners, others none", () => {
  const changed = (own: "owner" | "admin" | "member" | undefined) => roleOptions(own).map(({ value }) => value);
  expect(changed("owner")).toEqual(["owner", "admin", "member", "viewer"]);
  expect(changed("admin")).toEqual(["admin", "member", "viewer"]);
  expect(changed("member")).toEqual([]);
  expect(mayChange(undefined, "viewer")).toBe(false);
});

test("a key ends after whole days, or never", () => {
  expect(endOf("", 0)).toBeUndefined();
  expect(endOf("7", 0)).toBe("1970-01-08T00:00:00.000Z");
});
