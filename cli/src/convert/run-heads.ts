import { encodeLine, stableId, type LineOf } from "@tidemark/archive";
import type { JsonObject, RunItem } from "@tidemark/import-formats";
import { isReservedProjectName } from "@tidemark/limits";
import { eachRunField } from "@tidemark/run-state";
import type { Warnings } from "../terminal/warnings.ts";
import type { Source } from "../source/source.ts";
import { documentOf, instantOf, microsOf, nameOf } from "./texts.ts";

/** Which run of Tidemark a run of a source becomes. */
export type RunIdentity = { readonly id: string; readonly project: string };

/**
 * Returns the project and the id of a run: always the same ones for the same run of a source and the same project. A name that no project may have gets a
 * suffix, with a warning.
 */
export async function runIdentity(
  source: Source,
  project: string | undefined,
  item: RunItem,
  warnings: Warnings,
): Promise<RunIdentity> {
  const wanted = project ?? (nameOf(item.project ?? source.project) || "imported");
  const target = isReservedProjectName(wanted) ? `${wanted.trim()}-1` : wanted;
  if (target !== wanted) warnings.add(`put into the project ${target}, because none may be called all`, item.run);
  const identity = await source.identify(item);
  return { id: stableId("run", source.kind, item.project ?? "", identity, target), project: target };
}

/** Returns the id of the nth artifact of a run. */
export function artifactId(runId: string, number: number): string {
  return stableId("artifact", runId, String(number));
}

/** A run that is imported, with everything its items say about it so far. */
export type RunHead = RunIdentity & { item: RunItem };

/** Most bytes of config and metadata together. */
const DOCUMENTS_BYTES_MAX = 1_000_000;

/** Returns the id of a project in an archive; a project of this name that is there already keeps its own. */
function projectId(name: string): string {
  return stableId("project", name);
}

/** Adds what a later item of the run says. */
export function mergeItem(known: RunItem, next: RunItem): RunItem {
  const metadata = { ...known.metadata, ...next.metadata };
  return { ...known, ...next, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) };
}

/** Returns the lines of projects and runs, a run after the one that it continues. */
export function* headLines(heads: readonly RunHead[], modifiedAt: number, warnings: Warnings): Generator<string> {
  const created = instantOf(microsOf(modifiedAt) || 0);
  const exported: LineOf<"export"> = {
    line: "export",
    version: 1,
    product: "tidemark",
    exported_at: created,
    org_id: "00000000-0000-0000-0000-000000000000",
    selection: { project_id: undefined, run_ids: undefined },
  };
  yield encodeLine(exported);
  for (const name of new Set(heads.map(({ project }) => project))) {
    yield encodeLine({ line: "project", id: projectId(name), name, description: undefined, created_at: created });
  }
  for (const head of parentsFirst(heads)) yield encodeLine(runLine(head, heads, modifiedAt, warnings));
}

function parentsFirst(heads: readonly RunHead[]): RunHead[] {
  const bySource = new Map(heads.map((head) => [head.item.run, head]));
  const ordered = new Set<RunHead>();
  for (const head of heads) {
    const chain: RunHead[] = [];
    for (let next: RunHead | undefined = head; next !== undefined && !ordered.has(next) && !chain.includes(next);) {
      chain.push(next);
      next = next.item.fork === undefined ? undefined : bySource.get(next.item.fork.parent);
    }
    for (const one of chain.toReversed()) ordered.add(one);
  }
  return [...ordered];
}

function runLine(head: RunHead, heads: readonly RunHead[], modifiedAt: number, warnings: Warnings): LineOf<"run"> {
  const { id, project, item } = head;
  const status = item.status ?? "finished";
  const started = startOf(item, modifiedAt);
  const finished = Math.max(started, microsOf(item.finishedAt) || started);
  const parent = heads.find((other) => other.item.run === item.fork?.parent);
  if (item.fork !== undefined && parent === undefined)
    warnings.add("parents of forks that are not in the source", item.run);
  const tags = [...new Set((item.tags ?? []).map(nameOf).filter((tag) => tag !== ""))];
  const { config, metadata } = documentsOf(item, warnings);
  return {
    line: "run",
    id,
    project_id: projectId(project),
    name: nameOf(item.name ?? item.run) || item.run.slice(0, 36) || "run",
    status,
    config,
    tags,
    metadata,
    created_at: instantOf(started),
    started_at: instantOf(started),
    ...eachRunField({ time: undefined, uuid: undefined, number: undefined }),
    finished_at: status === "running" ? undefined : instantOf(finished),
    resume_count: 0,
    lifecycle: [],
    parent_run_id: parent?.id,
    forked_from_step: parent === undefined ? undefined : Math.max(0, item.fork!.step),
    stop: undefined,
    readme: undefined,
  };
}

/** Returns when a run began, in microseconds: as far as is known. */
export function startOf(item: RunItem, modifiedAt: number): number {
  return microsOf(item.startedAt) || microsOf(modifiedAt) || 0;
}

/** Returns config and metadata, which record the run's origin. Parts that are too large are left out. */
export function documentsOf(item: RunItem, warnings: Warnings): { readonly config: string; readonly metadata: string } {
  const origin: JsonObject = {
    tracker: item.source,
    run: item.run,
    ...(item.project === undefined ? {} : { project: item.project }),
  };
  const notes: JsonObject = item.notes === undefined ? {} : { notes: item.notes };
  const [config, metadata] = [
    documentOf(item.config ?? {}),
    documentOf({ ...item.metadata, ...notes, imported: origin }),
  ];
  if (Buffer.byteLength(config) + Buffer.byteLength(metadata) <= DOCUMENTS_BYTES_MAX) return { config, metadata };
  warnings.add("configurations and metadata that are too large", item.run);
  return {
    config: Buffer.byteLength(config) < DOCUMENTS_BYTES_MAX / 2 ? config : "{}",
    metadata: documentOf({ imported: origin }),
  };
}
