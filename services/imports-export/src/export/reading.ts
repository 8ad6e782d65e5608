import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExportRunsResponseSchema } from "@tidemark/proto/imports/v1/export";
import type { Call } from "@tidemark/rpc";
import type { Allowance } from "./export-limits.rules.ts";
import type { Owners } from "./owners.ts";

/** A part of an export as it is sent. */
export type Part = NonNullable<MessageInitShape<typeof ExportRunsResponseSchema>["part"]>;

/** With what the rows of one kind are read. Each call of an owner has its own time. */
export type Reading = {
  readonly owners: Owners;
  readonly newCall: () => Call;
  readonly allowance: Allowance;
};
