import { expect, test } from "@jest/globals";
import { requireAlias } from "./aliases.ts";

test.each(["best", "v", "v1.0", "valid", "a_b-c.d", "0", "latest-2", "x".repeat(64), "..", "v1a"])(
  "%s is an alias",
  (alias) => {
    expect(() => requireAlias(alias)).not.toThrow();
  },
);

test.each(["", "Best", "a b", "a/b", "a:b", "é", "latest", "v0", "v12345678901234567890", "x".repeat(65), "best\n"])(
  "%j is refused",
  (alias) => {
    expect(() => requireAlias(alias)).toThrow(expect.objectContaining({ reason: "bad_request", field: "alias" }));
  },
);
