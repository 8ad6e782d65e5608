import type { MessageInitShape } from "@bufbuild/protobuf";
import { badRequest, notFound } from "@tidemark/errors";
import type { Tx } from "@tidemark/pg";
import type { ExportRunsRequest, ExportRunsResponseSchema, RunsArchiveService } from "@tidemark/proto/runs/v1/archive";
import { callerOf, canSee, requireExportedIds, type Caller } from "@tidemark/requests";
import type { Handlers } from "@tidemark/rpc";
import type { RunsDeps } from "../deps.ts";
import type { Staleness } from "../life/staleness.rules.ts";
import { encodeProject, encodeRun, encodeRunControl } from "./encode-rows.ts";
import { findProject, findProjectByName, type ProjectRow } from "../projects/projects.sql.ts";
import { listRunsById, readRunsOfProject, type RunRow } from "./runs.sql.ts";
import { listReadmes } from "../readme/readmes.sql.ts";

/** How many named runs are read together: ten of the largest have 10 MB of documents. */
const NAMED_TOGETHER = 10;

type Answer = MessageInitShape<typeof ExportRunsResponseSchema>;

/** Returns the handlers of RunsArchiveService. ExportRuns throws bad_request, and not_found for a run or a project that the caller cannot see. */
export function archiveHandlers({
  db,
  staleness,
}: Pick<RunsDeps, "db" | "staleness">): Handlers<(typeof RunsArchiveService)["method"]> {
  return {
    exportRuns(request, call) {
      const caller = callerOf(call);
      const read = request.runIds.length > 0 ? namedRuns : runsOfProject;
      return db.streamTenant(caller.orgId, (tx) => read(tx, caller, request, staleness), { plans: "walks" });
    },
  };
}

async function* runsOfProject(
  tx: Tx,
  caller: Caller,
  { project: name }: ExportRunsRequest,
  staleness: Staleness,
): AsyncGenerator<Answer> {
  const { orgId } = caller;
  if (name === "" && caller.projectId === undefined) throw badRequest("project or run_ids is required", "project");
  const project =
    name === "" ? await findProject(tx, orgId, caller.projectId!) : await findProjectByName(tx, orgId, name);
  if (project === undefined || !canSee(caller, { orgId, projectId: project.id })) throw notFound("project");
  yield projectAnswer(project);
  for await (const rows of readRunsOfProject(tx, orgId, project.id)) yield await runsAnswer(tx, orgId, rows, staleness);
}

async function* namedRuns(
  tx: Tx,
  caller: Caller,
  { runIds }: ExportRunsRequest,
  staleness: Staleness,
): AsyncGenerator<Answer> {
  const { orgId, projectId } = caller;
  requireExportedIds(runIds);
  const order: Pick<RunRow, "id" | "project_id" | "created_at">[] = [];
  for (let at = 0; at < runIds.length; at += NAMED_TOGETHER) {
    const ids = runIds.slice(at, at + NAMED_TOGETHER);
    const rows = await listRunsById(tx, orgId, ids, projectId);
    if (rows.length < ids.length) throw notFound("run");
    for (const { id, project_id, created_at } of rows) order.push({ id, project_id, created_at });
  }
  for (const id of new Set(order.map(({ project_id }) => project_id))) {
    yield projectAnswer((await findProject(tx, orgId, id))!);
  }
  order.sort((a, b) => compare(a.created_at, b.created_at) || compare(a.id, b.id));
  for (let at = 0; at < order.length; at += NAMED_TOGETHER) {
    const ids = order.slice(at, at + NAMED_TOGETHER).map(({ id }) => id);
    yield await runsAnswer(tx, orgId, await listRunsById(tx, orgId, ids, projectId), staleness);
  }
}

/** Compares texts by code units, as ids and RFC 3339 instants of one form are ordered. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function projectAnswer(row: ProjectRow): Answer {
  return { rows: { case: "project", value: encodeProject(row) } };
}

async function runsAnswer(tx: Tx, orgId: string, rows: readonly RunRow[], staleness: Staleness): Promise<Answer> {
  const ids = rows.map(({ id }) => id);
  const readmes = await listReadmes(tx, orgId, ids);
  const runs = rows.map((row) => ({
    run: encodeRun(row, staleness),
    runControl: encodeRunControl(row, true),
    readme: readmes.get(row.id) ?? "",
  }));
  return { rows: { case: "runs", value: { runs } } };
}
