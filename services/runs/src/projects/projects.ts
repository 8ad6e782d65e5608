import { isStorable } from "@tidemark/values/run-search";
import { readDocumentInTurns, writeCanonicalInTurns } from "@tidemark/documents";
import { AppError, badRequest, notFound } from "@tidemark/errors";
import { sqlState, type Tx } from "@tidemark/pg";
import { callerOf, canSee, pathId, refuseUnpaid, requireLimit, throwFault } from "@tidemark/requests";
import { PAGE_ROWS } from "@tidemark/limits";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { listDeletedProjectsOf } from "../deletion/list-deleted.ts";
import { lockProject } from "../deletion/marked-rows.sql.ts";
import { seeDeleted } from "../deletion/hidden-rows.sql.ts";
import { patchedMetadata } from "../documents/patched-metadata.ts";
import { recordAudit } from "../deletion/deletions.ts";
import { encodeProject } from "../read/encode-rows.ts";
import {
  changeProject,
  countProjects,
  findProject,
  findProjectByNumber,
  findProjectByName,
  listProjectRows,
  type ProjectPage,
  type ProjectRow,
} from "./projects.sql.ts";
import { DEFAULT_PROJECT, requireProjectName, resolveProject } from "./resolve-project.ts";

/**
 * Creates a project, or returns the one of that name unchanged (API specification, POST /projects).
 * @throws forbidden for project-scoped keys, bad_request for a reserved name, payment_required, plan_limit_exceeded
 */
export function createProject({ db, plans, newId }: RunsDeps): RunsHandlers["createProject"] {
  return async (request, call) => {
    const caller = callerOf(call);
    if (caller.projectId !== undefined) {
      throw new AppError("forbidden", "a project-scoped key cannot create projects");
    }
    requireProjectName(request.name, "name");
    const metadata = await readDocumentInTurns(request.metadataJson, "metadata");
    const wish = {
      name: request.name === "" ? DEFAULT_PROJECT : request.name,
      description: request.description,
      metadata: await writeCanonicalInTurns(metadata),
      newId: newId(),
      runs: 0,
    };
    const project = await db.withTenant(caller.orgId, (tx) => resolveProject(tx, caller, plans, wish));
    if (request.mustBeNew && project.id !== wish.newId) throw nameTaken();
    return { project: encodeProject(project) };
  };
}

function nameTaken(cause?: unknown): AppError {
  return new AppError("conflict", "another project has this name", { field: "name", cause });
}

/** RunsService.GetProject. @throws not_found, bad_request */
export function getProject({ db }: RunsDeps): RunsHandlers["getProject"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const { number, name, includeDeleted } = request;
    if (name !== undefined && includeDeleted) throw badRequest("deleted projects are not found by name", "name");
    const project = await db.readTenant(orgId, async (tx) => {
      if (includeDeleted) await seeDeleted(tx);
      if (name !== undefined) return findNamed(tx, orgId, name);
      if (number !== undefined) return number < NUMBER_END ? findProjectByNumber(tx, orgId, number) : undefined;
      return findProject(tx, orgId, pathId(request.projectId, "project"));
    });
    if (project === undefined || isOver(project) || !canSee(caller, { orgId, projectId: project.id }))
      throw notFound("project");
    return { project: encodeProject(project) };
  };
}

/** Where numbers of projects end. */
const NUMBER_END = 2n ** 53n;

function isOver({ purge_after: purgeAfter }: ProjectRow): boolean {
  return purgeAfter !== null && !(Date.parse(purgeAfter) > Date.now());
}

/** Lists projects by name, or the one of a name; a project-scoped key sees its own (API specification, GET /projects). @throws bad_request */
export function listProjects(deps: RunsDeps): RunsHandlers["listProjects"] {
  const { db } = deps;
  return async (request, call) => {
    if (request.deleted) return listDeletedProjectsOf(deps, request, call);
    const { orgId, projectId } = callerOf(call);
    const page = { limit: requireLimit(request.limit, PAGE_ROWS.max), offset: request.offset, name: request.name };
    const { rows, total } = await db.readTenant(orgId, (tx) => readProjects(tx, orgId, projectId, page), {
      plans: "walks",
    });
    return { projects: rows.map(encodeProject), total: BigInt(total) };
  };
}

async function readProjects(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  { name, ...page }: ProjectPage & { readonly name: string | undefined },
): Promise<{ rows: ProjectRow[]; total: number }> {
  if (projectId === undefined && name === undefined) {
    return { rows: await listProjectRows(tx, orgId, page), total: await countProjects(tx, orgId) };
  }
  const found = projectId === undefined ? await findNamed(tx, orgId, name!) : await findProject(tx, orgId, projectId);
  const rows = found === undefined || (name !== undefined && name !== found.name) ? [] : [found];
  return { rows: page.offset === 0n && page.limit > 0 ? rows : [], total: rows.length };
}

async function findNamed(tx: Tx, orgId: string, name: string): Promise<ProjectRow | undefined> {
  return isStorable(name) ? findProjectByName(tx, orgId, name) : undefined;
}

/**
 * Changes name and description of a project. Searches find its runs by the new name when this returns or, in a very large project, some seconds later.
 * @throws forbidden for project-scoped keys, not_found, then bad_request, then payment_required, conflict when the name is taken
 */
export function updateProject({ db, deletionPropagator }: RunsDeps): RunsHandlers["updateProject"] {
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    if (caller.projectId !== undefined) throw new AppError("forbidden", "a project-scoped key cannot change projects");
    const projectId = pathId(request.projectId, "project");
    const project = await db
      .withTenant(orgId, async (tx) => {
        const before = await lockProject(tx, orgId, projectId);
        if (before === undefined) throw notFound("project");
        throwFault(request.bodyFault);
        const { name, description, metadataPatchJson } = request;
        if (name === undefined && description === undefined && metadataPatchJson.length === 0) {
          throw badRequest("one of name and description is required");
        }
        if (name !== undefined) requireProjectName(name, "name");
        refuseUnpaid(caller);
        const metadata =
          metadataPatchJson.length === 0 ? undefined : await patchedMetadata(before.metadata, metadataPatchJson);
        const after = await changeProject(tx, orgId, projectId, { name, description, metadata });
        if (after.name !== before.name) await recordAudit(tx, call, "project.renamed", projectId);
        return after;
      })
      .catch((error: unknown) => {
        if (sqlState(error) !== "23505") throw error;
        throw nameTaken(error);
      });
    await deletionPropagator.settle(orgId, projectId);
    return { project: encodeProject(project) };
  };
}
