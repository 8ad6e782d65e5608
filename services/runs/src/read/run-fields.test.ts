import { ScalarType } from "@bufbuild/protobuf";
import { expect, test } from "@jest/globals";
import { RunSchema } from "@tidemark/proto/runs/v1/runs";
import { runFields } from "@tidemark/run-state";

test.each(Object.entries(runFields))("the message of a run has the field %s", (name, { member, kind }) => {
  expect(RunSchema.field[member]).toMatchObject({
    name,
    proto: { proto3Optional: true },
    scalar: kind === "number" ? ScalarType.DOUBLE : ScalarType.STRING,
  });
});
