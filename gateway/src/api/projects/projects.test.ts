import { describe, expect, test } from "@jest/globals";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCreateProject, decodeListProjects } from "./projects.ts";

describe("POST /projects", () => {
  test.each([
    ["nothing", {}, { name: "" }],
    ["nulls as absent", { name: null, description: null }, { name: "" }],
    ["a blank name as absent", { name: "  " }, { name: "" }],
    ["name and description, trimmed", { name: " p ", description: " d " }, { name: "p", description: "d" }],
  ])("reads %s", (_what, body, expected) => {
    expect(decodeCreateProject(inputOf({ body }))).toEqual(expected);
  });

  test.each([
    ["a name that is not a text", { name: 1 }, "name"],
    ["a name of 513 bytes", { name: "p".repeat(513) }, "name"],
    ["a name with NUL", { name: "\u0000p" }, "name"],
    ["a blank description", { description: " " }, "description"],
    ["a description of 513 bytes", { description: "d".repeat(513) }, "description"],
    ["a description that is not a text", { description: [] }, "description"],
  ])("refuses %s", (_what, body, field) => {
    expect(() => decodeCreateProject(inputOf({ body }))).toThrow(
      expect.objectContaining({ reason: "bad_request", field }),
    );
  });
});

describe("GET /projects", () => {
  test("has pages of 100 by default", () => {
    expect(decodeListProjects(inputOf({}))).toEqual({ limit: 100, offset: 0n });
    expect(decodeListProjects(inputOf({ query: { limit: "1000", offset: "7" } }))).toEqual({ limit: 1000, offset: 7n });
  });

  test.each([
    [{ limit: "0" }, "limit"],
    [{ limit: "1001" }, "limit"],
    [{ limit: "x" }, "limit"],
    [{ offset: "-1" }, "offset"],
  ])("refuses %j", (query, field) => {
    expect(() => decodeListProjects(inputOf({ query }))).toThrow(
      expect.objectContaining({ reason: "bad_request", field }),
    );
  });
});
