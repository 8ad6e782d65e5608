import { expect, test } from "@jest/globals";
import { create } from "@bufbuild/protobuf";
import { GetPreferencesResponseSchema } from "@tidemark/proto/reports/v1/preferences";
import { describeBody } from "../route-input.fixture.ts";
import { bodyOf } from "../response-schema.fixture.ts";
import { decodeSetPreferences, encodePreferences } from "./routes.ts";

describeBody(
  "PUT /api/dashboard/preferences",
  decodeSetPreferences,
  [
    ["a project", { selected_project: " p " }, { selectedProject: "p" }],
    ["null as none", { selected_project: null }, {}],
    ["a blank one as none", { selected_project: " " }, {}],
    ["nothing as none", {}, {}],
  ],
  [["a project that is not a string", { selected_project: 1 }, "selected_project"]],
);

test("unsaved preferences are null", () => {
  const reply = encodePreferences(create(GetPreferencesResponseSchema, { preferences: {} }));
  const body = bodyOf(reply, "GET /api/dashboard/preferences");
  expect(body).toEqual({ preferences: { selected_project: null, updated_at: null } });
});
