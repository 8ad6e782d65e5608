import { isStorable } from "@tidemark/values/run-search";
import { readCursor, writeCursor } from "@tidemark/values";
import { badRequest, notFound } from "@tidemark/errors";
import { KEYS_PAGE_ROWS, RUNS_PAGE_ROWS } from "@tidemark/limits";
import { callerOf, isUuid, pathId, requireLimit, throwFault } from "@tidemark/requests";
import type { RunsDeps, RunsHandlers } from "../deps.ts";
import { countVisibleRuns } from "../read/runs.sql.ts";
import { REGEX_BYTES_MAX } from "../search/words.rules.ts";
import { KEY_KINDS, keysFrom, readKeySearch, readKind, type Key, type KeyPlace } from "./key.rules.ts";
import { countKeys, readKeyVersions } from "./keys.sql.ts";

/**
 * RunsService.ListKeys: a page of the keys of a project, or of some of its runs, with the number of runs that have each.
 * @throws not_found, then bad_request
 */
export function listKeys(deps: RunsDeps): RunsHandlers["listKeys"] {
  const { db, keyCatalogue, searchThreads } = deps;
  return async (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    const projectId = pathId(request.projectId, "project");
    if (caller.projectId !== undefined && caller.projectId !== projectId) throw notFound("project");
    const versions = await db.readTenant(orgId, (tx) => readKeyVersions(tx, orgId, projectId));
    if (versions === undefined) throw notFound("project");
    throwFault(request.queryFault);
    const kind = readKind(request.kind);
    const limit = requireLimit(request.limit, KEYS_PAGE_ROWS.max);
    const search = readKeySearch(request.q);
    if (search !== undefined && "pattern" in search) requirePattern(search.pattern);
    const after = request.cursor === "" ? undefined : readPlace(request.cursor);
    const runIds = requireRuns(request.runIds);

    const kinds = kind === undefined ? KEY_KINDS : [kind];
    const lists =
      runIds === undefined
        ? await Promise.all(kinds.map((of) => keyCatalogue.keysOf(orgId, projectId, of, versions[of])))
        : await db.readTenant(orgId, async (tx) => {
            if ((await countVisibleRuns(tx, orgId, runIds, projectId)) < runIds.length) throw notFound("run");
            const counted: Key[][] = [];
            for (const of of kinds) counted.push(await countKeys(tx, of, { orgId, projectId, runIds }));
            return counted;
          });

    const keys = keysFrom(lists, { prefix: request.prefix, after });
    const page: Key[] = [];
    // One more shows whether there is a next page.
    if (search !== undefined && "pattern" in search) {
      const candidates = [...keys];
      const names = candidates.map(({ name }) => name).join("\0");
      const found = await searchThreads.find({ orgId, pattern: search.pattern, names, foundMax: limit + 1 });
      for (const place of found) page.push(candidates[Number(place)]!);
    } else {
      for (const key of keys) {
        if (search !== undefined && !key.lowered.includes(search.part)) continue;
        page.push(key);
        if (page.length > limit) break;
      }
    }
    const last = page.length > limit ? page[limit - 1] : undefined;
    return {
      keys: page.slice(0, limit).map(({ name, kind: of, runs }) => ({ name, kind: of, runCount: BigInt(runs) })),
      nextCursor: last === undefined ? "" : writeCursor([last.name, last.kind]),
    };
  };
}

function requirePattern(pattern: string): void {
  if (Buffer.byteLength(pattern) > REGEX_BYTES_MAX)
    throw badRequest(`the regular expression of q must have at most ${REGEX_BYTES_MAX} bytes`, "q");
  if (!isStorable(pattern)) throw badRequest("the regular expression of q is not valid", "q");
}

function readPlace(cursor: string): KeyPlace {
  const [name, text] = readCursor(cursor, 2) ?? [];
  const kind = KEY_KINDS.find((known) => known === text);
  if (typeof name !== "string" || kind === undefined) throw badRequest("cursor is not a cursor of this list", "cursor");
  return { name, kind };
}

function requireRuns(runIds: readonly string[]): readonly string[] | undefined {
  if (runIds.length === 0) return undefined;
  const { max } = RUNS_PAGE_ROWS;
  if (runIds.length > max || new Set(runIds).size < runIds.length || !runIds.every(isUuid))
    throw badRequest(`run_ids must name at most ${max} different runs`, "run_ids");
  return runIds;
}
