import { describe, expect, test } from "@jest/globals";
import { inputOf } from "../route-input.fixture.ts";
import { decodeCreateProject, decodeDeleteProject, decodeListProjects, decodeUpdateProject } from "./projects.ts";

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

  test("has the project of a name, as it was sent", () => {
    expect(decodeListProjects(inputOf({ query: { name: " p" } }))).toEqual({ limit: 100, offset: 0n, name: " p" });
  });

  test.each([
    [{ name: "p", deleted: "true" }, "name"],
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

const id = "0C8FFD3A-0000-4000-8000-000000000001";
const params = { project_id: id };

describe("PATCH /projects/{project_id}", () => {
  test.each([
    ["a name, trimmed", { name: " p " }, { name: "p", description: undefined }],
    ["a description", { description: "d" }, { name: undefined, description: "d" }],
    ["both", { name: "p", description: "d" }, { name: "p", description: "d" }],
    ["null as absent", { name: "p", description: null }, { name: "p", description: undefined }],
  ])("reads %s", (_what, body, expected) => {
    expect(decodeUpdateProject(inputOf({ params, body }))).toEqual({
      projectId: id.toLowerCase(),
      ...expected,
      bodyFault: undefined,
    });
  });

  test.each([
    ["nothing", {}, ""],
    ["nulls only", { name: null, description: null }, ""],
    ["a blank name", { name: " " }, "name"],
    ["a name of 513 bytes", { name: "p".repeat(513) }, "name"],
    ["a name that is not a text", { name: 1 }, "name"],
    ["a blank description", { description: "" }, "description"],
    ["a description of 513 bytes", { description: "d".repeat(513) }, "description"],
  ])("sends on the fault of %s", (_what, body, field) => {
    expect(decodeUpdateProject(inputOf({ params, body })).bodyFault).toMatchObject({ field });
  });
});

describe("DELETE /projects/{project_id}", () => {
  test.each([
    ["no switch", {}, false],
    ["false", { dry_run: "false" }, false],
    ["true", { dry_run: "true" }, true],
  ])("reads %s", (_what, query, dryRun) => {
    expect(decodeDeleteProject(inputOf({ params, query }))).toEqual({ projectId: id.toLowerCase(), dryRun });
  });

  test.each(["1", "TRUE", "yes"])("refuses dry_run=%s", (sent) => {
    expect(() => decodeDeleteProject(inputOf({ params, query: { dry_run: sent } }))).toThrow(
      expect.objectContaining({ reason: "bad_request", field: "dry_run" }),
    );
  });
});
