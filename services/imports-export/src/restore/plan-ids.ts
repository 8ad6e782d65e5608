import type { LineOf } from "@tidemark/archive";
import { RESTORE_LIMITS } from "@tidemark/limits";
import { createPauses } from "@tidemark/work";
import type { CallWithRetry } from "../jobs/run-held.ts";
import { slicesOf } from "../commit/slices.rules.ts";
import type { ArchiveFacts } from "./archive-facts.rules.ts";
import { newIdsOf, spareId, type IdType, type PlacedLine, type Replaced } from "./new-ids.rules.ts";
import type { RestoreClients } from "./line-writer.ts";
import type { Fact, PieceFacts } from "./piece-facts.rules.ts";

/** The plan. */
type Plan = {
  readonly clients: RestoreClients;
  readonly callWithRetry: CallWithRetry;
  /** Of the archive. */
  readonly id: string;
  readonly facts: readonly PieceFacts[];
  readonly archive: ArchiveFacts;
  readonly hasViews: boolean;
  readonly read: (piece: number) => Promise<readonly PlacedLine[]>;
};

const utf8 = new TextEncoder();

/**
 * Makes or finds the projects and the collections of an archive, and returns which of its rows get other ids: the ids of projects and collections that
 * already exist, and new ids in place of taken ones. A repeat finds what was made.
 * @throws forbidden, payment_required, plan_limit_exceeded
 */
export async function planIds(plan: Plan): Promise<readonly Replaced[]> {
  const replaced: Replaced[] = [];
  const note = (type: IdType, old: string, id: string): void => {
    if (id !== old) replaced.push({ type, old, new: id });
  };
  const { clients, callWithRetry, id } = plan;
  const runs = await runsOfProjects(plan.facts);
  for (const line of await headsOf(plan, "project")) {
    const project = {
      id: line.id,
      name: line.name,
      createdAt: line.created_at,
      ...(line.description === undefined ? {} : { description: line.description }),
    };
    const request = { project, spareId: spareId(id, "project", line.id), newRuns: runs.get(line.id) ?? 0 };
    note("project", line.id, (await callWithRetry((call) => clients.runs.restoreProject(request, call))).id);
  }
  const projects = newIdsOf(replaced);
  for (const line of await headsOf(plan, "collection")) {
    const collection = {
      id: line.id,
      projectId: projects.of("project", line.project_id),
      name: line.name,
      type: line.collection_type,
      metadataJson: utf8.encode(line.metadata),
      nextIndex: line.next_index,
      createdAt: line.created_at,
      updatedAt: line.updated_at,
      ...(line.description === undefined ? {} : { description: line.description }),
    };
    const request = { collection, spareId: spareId(id, "collection", line.id) };
    note("collection", line.id, (await callWithRetry((call) => clients.artifacts.restoreCollection(request, call))).id);
  }
  for (const type of OTHERS) {
    if (type === "view" && !plan.hasViews) continue;
    for (const ids of slicesOf([...(plan.archive.ids.get(type) ?? [])], RESTORE_LIMITS.idsTogetherMax)) {
      for (const taken of await findTaken(plan, type, ids)) note(type, taken, spareId(id, type, taken));
    }
  }
  return replaced;
}

const OTHERS = ["run", "artifact", "version", "entry", "edge", "report", "view"] as const satisfies readonly IdType[];

async function findTaken(
  { clients, callWithRetry }: Plan,
  type: (typeof OTHERS)[number],
  ids: string[],
): Promise<readonly string[]> {
  const answer = await callWithRetry((call): Promise<{ readonly ids: string[] }> => {
    if (type === "run") return clients.runs.findTakenRuns({ ids }, call);
    if (type === "report" || type === "view") return clients.reports.findTakenReports({ type, ids }, call);
    return clients.artifacts.findTakenArtifacts({ type, ids }, call);
  });
  return answer.ids;
}

/** Returns the lines of a type, and reads only pieces that have any. */
async function headsOf<K extends "project" | "collection">({ facts, read }: Plan, type: K): Promise<LineOf<K>[]> {
  const heads: LineOf<K>[] = [];
  const pauseIfLong = createPauses();
  for (const [piece, { facts: own }] of facts.entries()) {
    await pauseIfLong();
    if (!own.some(([kind, of]: Fact) => kind === "defines" && of === type)) continue;
    for (const { line } of await read(piece)) if (line.line === type) heads.push(line as unknown as LineOf<K>);
  }
  return heads;
}

/** Returns how many runs each project has: a run's project is defined right before it. */
async function runsOfProjects(pieces: readonly PieceFacts[]): Promise<Map<string, number>> {
  const runs = new Map<string, number>();
  const pauseIfLong = createPauses();
  let project = "";
  for (const { facts } of pieces) {
    await pauseIfLong();
    for (const [kind, type, id] of facts) {
      if (kind === "names" && type === "project") project = id;
      else if (kind === "defines" && type === "run") runs.set(project, (runs.get(project) ?? 0) + 1);
    }
  }
  return runs;
}
