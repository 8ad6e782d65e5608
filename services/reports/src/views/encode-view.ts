import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ViewSchema } from "@tidemark/proto/reports/v1/views";
import type { ViewRow } from "./views.sql.ts";

const utf8 = new TextEncoder();

/** Encodes a view with its payload. */
export function encodeView({ project, payload, ...same }: ViewRow): MessageInitShape<typeof ViewSchema> {
  return { ...same, project: project ?? undefined, payloadJson: utf8.encode(payload) };
}
