import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CreateProjectRequestSchema, ListProjectsRequestSchema } from "@tidemark/proto/runs/v1/runs";
import type { RouteInput } from "../route.ts";
import { readLimit, readOffset, readOptionalText } from "./fields.ts";

/** Page sizes of the project list. */
export const PROJECTS_LIMIT = { default: 100, max: 1000 } as const;

/** POST /projects: a blank name means the default project, a blank description is a mistake. @throws bad_request */
export function decodeCreateProject({ body }: RouteInput): MessageInitShape<typeof CreateProjectRequestSchema> {
  const description = readOptionalText(body, "description");
  return {
    name: readOptionalText(body, "name", { blank: "absent" }) ?? "",
    ...(description === undefined ? {} : { description }),
  };
}

/** GET /projects. @throws bad_request */
export function decodeListProjects({ query }: RouteInput): MessageInitShape<typeof ListProjectsRequestSchema> {
  return { limit: readLimit(query, PROJECTS_LIMIT), offset: BigInt(readOffset(query)) };
}
