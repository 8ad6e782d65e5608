import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProjectSchema } from "@tidemark/proto/runs/v1/runs";
import type { ProjectRow } from "../store/project-row.ts";

/** A project as its message. */
export function encodeProject(row: ProjectRow): MessageInitShape<typeof ProjectSchema> {
  return {
    id: row.id,
    orgId: row.org_id,
    name: row.name,
    createdAt: row.created_at,
    ...(row.description === null ? {} : { description: row.description }),
  };
}
