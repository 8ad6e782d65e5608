import { describe, expect, test } from "@jest/globals";
import { scopes } from "@tidemark/credentials";
import { refusalOf } from "../refusal.fixture.ts";
import { chooseScopes, requireHeld } from "./key-scopes.rules.ts";

describe("the scopes of a new key", () => {
  test.each([
    [[], ["sdk:ingest", "export:read"]],
    [["usage:read"], ["usage:read"]],
    [
      ["runs:control", "sdk:ingest", "sdk:ingest"],
      ["sdk:ingest", "runs:control"],
    ],
    [[...scopes].toReversed(), [...scopes]],
  ])("requested as %j are %j", (asked, chosen) => expect(chooseScopes(asked)).toEqual(chosen));

  test.each([[["root"]], [["sdk:ingest", ""]], [["SDK:INGEST"]]])("%j are refused", (asked) => {
    expect(refusalOf(() => chooseScopes(asked))).toMatchObject({ reason: "bad_request", field: "scopes" });
  });

  test("are at most those of its maker", () => {
    requireHeld(["export:read"], ["export:read", "api_keys:write"]);
    expect(refusalOf(() => requireHeld(["export:read", "usage:read"], ["export:read"]))).toMatchObject({
      reason: "forbidden",
      message: expect.stringContaining("usage:read"),
    });
  });
});
