import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ExportRunsResponseSchema } from "@tidemark/proto/imports/v1/export";
import type { Call } from "@tidemark/rpc";
import type { Allowance } from "./export-limits.rules.ts";
import type { ExportClients } from "./clients.ts";

/** A part of an export in the form in which it is sent. */
export type Part = NonNullable<MessageInitShape<typeof ExportRunsResponseSchema>["part"]>;

/** Dependencies of reading the rows of one kind. */
export type Reading = {
  readonly clients: ExportClients;
  /** The call of the export, for streams. */
  readonly call: Call;
  /** Starts a call with a deadline of its own, for single answers. */
  readonly newCall: () => Call;
  readonly allowance: Allowance;
};
