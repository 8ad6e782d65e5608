import { describe, expect, test } from "@jest/globals";
import { inputOf } from "../route-input.fixture.ts";
import { decodeDeleteProject, decodeUpdateProject } from "./change.ts";

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
