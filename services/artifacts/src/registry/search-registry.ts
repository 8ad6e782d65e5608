import { PAGE_BYTES_MAX, REGISTRY } from "@tidemark/limits";
import { callerOf, requireLimit } from "@tidemark/requests";
import type { ArtifactsDeps, RegistryHandlers } from "../deps.ts";
import { countFitting } from "@tidemark/pg/query";
import { encodeRegistered, encodeRegisteredVersion } from "./encode-registered.ts";
import { listAliases, readRegistered } from "./registered-models.sql.ts";
import { listLatest, readVersionsOf } from "./registered-versions.sql.ts";
import { findRegisteredModels, findRegisteredVersions } from "./search-registry.sql.ts";

/** RegistryService.SearchRegisteredModels. @throws bad_request */
export function searchRegisteredModels({ db }: Pick<ArtifactsDeps, "db">): RegistryHandlers["searchRegisteredModels"] {
  return (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const limit = requireLimit(request.limit, REGISTRY.pageMax);
    return db.readTenant(
      orgId,
      async (tx) => {
        const { found, cursorOf } = await findRegisteredModels(tx, orgId, projectId, { ...request, limit: limit + 1 });
        const shown = found.slice(0, limit).map(({ id }) => id);
        const latest = Map.groupBy(await listLatest(tx, orgId, projectId, shown), ({ registeredId }) => registeredId);
        const weighed = found.map((row) => {
          const ofVersions = (latest.get(row.id) ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
          return { ...row, bytes: row.bytes + ofVersions };
        });
        const page = weighed.slice(0, countFitting(weighed, limit, PAGE_BYTES_MAX));
        const ids = page.map(({ id }) => id);
        const versionIds = ids.flatMap((id) => (latest.get(id) ?? []).map((version) => version.id));
        const versions = Map.groupBy(await readVersionsOf(tx, orgId, versionIds), ({ registeredId }) => registeredId);
        const aliases = Map.groupBy(await listAliases(tx, orgId, ids), ({ registeredId }) => registeredId);
        const rows = await readRegistered(tx, orgId, ids);
        return {
          models: rows.map((row) => encodeRegistered(row, aliases.get(row.id) ?? [], versions.get(row.id) ?? [])),
          nextCursor: page.length < found.length ? cursorOf(page.at(-1)!) : "",
        };
      },
      { plans: "by values" },
    );
  };
}

/** RegistryService.SearchRegisteredVersions. @throws bad_request */
export function searchRegisteredVersions({
  db,
}: Pick<ArtifactsDeps, "db">): RegistryHandlers["searchRegisteredVersions"] {
  return (request, call) => {
    const { orgId, projectId } = callerOf(call);
    const limit = requireLimit(request.limit, REGISTRY.pageMax);
    return db.readTenant(
      orgId,
      async (tx) => {
        const { found, cursorOf } = await findRegisteredVersions(tx, orgId, projectId, {
          ...request,
          limit: limit + 1,
        });
        const page = found.slice(0, countFitting(found, limit, PAGE_BYTES_MAX));
        const rows = await readVersionsOf(
          tx,
          orgId,
          page.map(({ id }) => id),
        );
        return {
          versions: rows.map(encodeRegisteredVersion),
          nextCursor: page.length < found.length ? cursorOf(page.at(-1)!) : "",
        };
      },
      { plans: "by values" },
    );
  };
}
