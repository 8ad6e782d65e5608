import { badRequest } from "@tidemark/errors";
import { ALIAS_SHAPE, REGISTRY, RESERVED_ALIAS_SHAPE } from "@tidemark/limits";
import type { Tx } from "@tidemark/pg";
import { callerOf } from "@tidemark/requests";
import { moveAliases, removeAlias, touchCollection } from "../collections/aliases.sql.ts";
import type { ArtifactsDeps, RegistryHandlers } from "../deps.ts";
import { lockCollection } from "../versions/retention.sql.ts";
import { readVersions } from "../versions/versions.sql.ts";
import {
  findAliasNumber,
  putRegisteredAlias,
  removeRegisteredAlias,
  touchRegistered,
} from "./registered-models.sql.ts";
import { requireRegistered } from "./registered-models.ts";
import { findVersionId, readVersionsOf } from "./registered-versions.sql.ts";
import { requireVersionId } from "./registered-versions.ts";

/** RegistryService.SetRegisteredAlias: creates, moves or removes an alias. @throws not_found, bad_request */
export function setRegisteredAlias({ db }: Pick<ArtifactsDeps, "db">): RegistryHandlers["setRegisteredAlias"] {
  return (request, call) => {
    const caller = callerOf(call);
    const { orgId } = caller;
    return db.withTenant(
      orgId,
      async (tx) => {
        const { alias, number } = request;
        const registered = await requireRegistered(tx, caller, request.name, "locked");
        requireAlias(alias);
        const registeredId = registered.id;
        const before = await findAliasNumber(tx, orgId, registeredId, alias);
        const old =
          before === undefined
            ? undefined
            : await findVersionId(tx, orgId, undefined, { registeredId, number: before });
        const wanted = number === undefined ? undefined : await requireVersionId(tx, caller, registered, number);
        if (number === undefined) await removeRegisteredAlias(tx, orgId, registeredId, alias);
        else await putRegisteredAlias(tx, orgId, { registeredId, alias, number });
        await touchRegistered(tx, orgId, registeredId);
        await followAlias(tx, orgId, alias, { old, wanted });
        return {};
      },
      { plans: "walks" },
    );
  };
}

function requireAlias(alias: string): void {
  if (alias === "" || alias.length > REGISTRY.aliasCharactersMax || /[/:\0]/.test(alias)) {
    throw badRequest(
      `alias must have 1 to ${REGISTRY.aliasCharactersMax} characters, none of them "/" and ":"`,
      "alias",
    );
  }
  if (RESERVED_ALIAS_SHAPE.test(alias.toLowerCase())) throw badRequest(`the alias ${alias} is reserved`, "alias");
}

/**
 * Does in collections what was done to an alias of the registry, where they allow it: moves it from the version of a collection that the old version
 * of the registry refers to, to that of the new one.
 */
async function followAlias(
  tx: Tx,
  orgId: string,
  alias: string,
  ids: { readonly old: string | undefined; readonly wanted: string | undefined },
): Promise<void> {
  if (!ALIAS_SHAPE.test(alias) || RESERVED_ALIAS_SHAPE.test(alias)) return;
  const rows = await readVersionsOf(
    tx,
    orgId,
    [ids.old, ids.wanted].filter((id) => id !== undefined),
  );
  const versionIds = rows.flatMap(({ versionId }) => versionId ?? []);
  const versions = new Map((await readVersions(tx, orgId, versionIds)).map((version) => [version.id, version]));
  const versionOf = (id: string | undefined) => versions.get(rows.find((row) => row.id === id)?.versionId ?? "");
  const [from, to] = [versionOf(ids.old), versionOf(ids.wanted)];
  const collectionIds = [from, to].flatMap((version) => version?.collectionId ?? []).toSorted();
  for (const id of new Set(collectionIds)) await lockCollection(tx, orgId, id);
  if (from !== undefined && from.collectionId !== to?.collectionId && from.aliases.includes(alias)) {
    await removeAlias(tx, orgId, from.collectionId, alias);
    await touchCollection(tx, orgId, from.collectionId);
  }
  if (to === undefined || !to.available) return;
  await moveAliases(tx, orgId, to.collectionId, [alias], to.id);
  await touchCollection(tx, orgId, to.collectionId);
}
