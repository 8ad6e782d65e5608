import { expect, test } from "@jest/globals";
import { eachRunField, runFieldsOf, runMembersOf } from "./run-fields.ts";

const nothing = eachRunField({ time: null, uuid: null, number: null });

test("fields become members of the message, without those that nothing has set", () => {
  expect(runMembersOf({ ...nothing, forked_from_step: 0, resumed_at: "2026-01-02T03:04:05Z" })).toEqual({
    forkedFromStep: 0,
    resumedAt: "2026-01-02T03:04:05Z",
  });
  expect(runMembersOf(nothing)).toEqual({});
});

test("members become fields, each of which is there", () => {
  expect(runFieldsOf({ forkedFromStep: 0 }, null)).toEqual({ ...nothing, forked_from_step: 0 });
  expect(runFieldsOf({}, undefined)).toEqual(eachRunField({ time: undefined, uuid: undefined, number: undefined }));
});

test("each field has what its kind has", () => {
  expect(eachRunField({ time: 1, uuid: 2, number: 3 })).toEqual({
    finished_at: 1,
    parent_run_id: 2,
    forked_from_step: 3,
    forked_from_artifact_id: 2,
    resumed_at: 1,
  });
});
