import { AppError, badRequest } from "@tidemark/errors";
import { isUuid, type Caller } from "@tidemark/requests";

/**
 * Returns the project of a new report: a caller of one project writes there and nowhere else.
 * @throws bad_request, forbidden
 */
export function chooseProject(caller: Pick<Caller, "projectId">, wanted: string | undefined): string | null {
  if (wanted === undefined || wanted === "") return caller.projectId ?? null;
  const projectId = wanted.toLowerCase();
  if (!isUuid(projectId)) throw badRequest("project_id must be a UUID", "project_id");
  if (caller.projectId !== undefined && caller.projectId !== projectId) {
    throw new AppError("forbidden", "this api key may only write reports of its own project");
  }
  return projectId;
}
