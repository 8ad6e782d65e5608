import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProjectSchema } from "@tidemark/proto/runs/v1/runs";
import { deletionOf } from "../deletion/encode-deletion.ts";
import type { ProjectRow } from "./projects.sql.ts";

/** Encodes a project. */
export function encodeProject(row: ProjectRow): MessageInitShape<typeof ProjectSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    name: row.name,
    createdAt: row.created_at,
    ...(row.description === null ? {} : { description: row.description }),
    ...deletionOf(row),
  };
}
