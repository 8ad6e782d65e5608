import type { Db } from "@tidemark/pg";
import { addStored, listOrganizations, readCounters, recountRows } from "./recount.sql.ts";
import { driftsOf, type Drift } from "../document/storage.rules.ts";

/** A drift of an organization. */
export type OrganizationDrift = Drift & { readonly orgId: string; readonly slug: string };

const NIL = "00000000-0000-0000-0000-000000000000";
const PAGE = 200;
/** A large organization has many rows. */
const STATEMENT_MS_MAX = 3_600_000;

/**
 * Recounts what all organizations store from their rows, and yields the organizations whose counters differ. With `repair` the counters are
 * corrected by the difference. Both may be done while others write: counters and rows change in the same transactions and are read at one moment,
 * so the difference stays the same until a repair corrects it. Do not repair in two processes at the same time.
 * `db` runs as the service, `workerDb` as its worker.
 */
export async function* recountStorage(
  { db, workerDb }: { readonly db: Db; readonly workerDb: Db },
  { repair }: { readonly repair: boolean },
): AsyncGenerator<OrganizationDrift> {
  for (let after = NIL; ;) {
    const page = await listOrganizations(workerDb, after, PAGE);
    for (const { orgId, slug } of page) {
      after = orgId;
      const drifts = await findDrifts(db, orgId);
      if (repair && drifts.length > 0) {
        await db.withTenant(orgId, async (tx) => {
          for (const { kind, counted, stored } of drifts) await addStored(tx, orgId, kind, stored - counted);
        });
      }
      for (const drift of drifts) yield { orgId, slug, ...drift };
    }
    if (page.length < PAGE) return;
  }
}

function findDrifts(db: Db, orgId: string): Promise<Drift[]> {
  return db.readTenant(orgId, async (tx) => driftsOf(await readCounters(tx, orgId), await recountRows(tx, orgId)), {
    statementMsMax: STATEMENT_MS_MAX,
    plans: "by values",
  });
}
