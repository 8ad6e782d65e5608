import { startRounds, type Rounds } from "@tidemark/work";
import type { Db, Tx } from "./db.ts";
import { sql, type Statement } from "./statement.ts";

/** What is removed permanently when its grace period is over. */
export type RemovalKind = "run" | "project" | "organization";

/** Something whose rows a service has to remove. */
export type Removal = {
  readonly orgId: string;
  readonly kind: RemovalKind;
  /** The id of the run, the project or the organization. */
  readonly id: string;
  /** The project of a run. */
  readonly projectId: string | null;
};

const beginSql = sql("platform_begin_removals", "SELECT platform.begin_removals($1, $2, $3, $4, $5, $6)");

/**
 * Asks services to remove their rows of runs of one project, of projects, or of an organization, and `owner` to remove the rest when the others
 * are done. Repeating it changes nothing. `tx` runs as the worker role of `owner`.
 */
export async function beginRemovals(
  tx: Tx,
  removals: {
    readonly orgId: string;
    readonly kind: RemovalKind;
    readonly ids: readonly string[];
    /** The project of runs. */
    readonly projectId: string | undefined;
    readonly owner: string;
    readonly others: readonly string[];
  },
): Promise<void> {
  const { orgId, kind, ids, projectId, owner, others } = removals;
  await tx.rows(beginSql, [orgId, kind, ids, projectId ?? null, owner, others]);
}

const dueSql = sql(
  "platform_due_removals",
  `SELECT xid, org_id AS "orgId", kind, id, project_id AS "projectId" FROM platform.due_removals($1, $2::text::xid8, $3, $4::integer)`,
);
const finishSql = sql("platform_finish_removal", "SELECT platform.finish_removal($1, $2, $3, $4)");

const PAGE = 200;
const NIL = "00000000-0000-0000-0000-000000000000";

/** The options of a remover. */
export type RemoverOptions = {
  /** Runs as the worker role of the service. */
  readonly db: Db;
  /** The schema of the service, which `beginRemovals` names. */
  readonly service: string;
  /**
   * Removes all rows that the service has of it; resolves to false when a later round must continue. May be repeated, even by several processes at the same
   * time.
   */
  readonly remove: (removal: Removal) => Promise<boolean>;
};

/**
 * Does the service's due removals once. A failed one is left for the next round, and its error is thrown at the end. Returns how many removals the service
 * has finished.
 */
export async function removeDue({ db, service, remove }: RemoverOptions, isStopped = () => false): Promise<number> {
  const failures: unknown[] = [];
  let finished = 0;
  for (let place = { xid: "0", id: NIL }; ;) {
    const page = await db.rows<Removal & { xid: string }>(dueSql, [service, place.xid, place.id, PAGE]);
    for (const removal of page) {
      if (isStopped()) return finished;
      place = removal;
      try {
        if (!(await remove(removal))) continue;
        await db.rows(finishSql, [service, removal.orgId, removal.kind, removal.id]);
        finished += 1;
      } catch (error) {
        failures.push(error);
      }
    }
    if (page.length < PAGE) break;
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${failures.length} removals failed`, { cause: failures[0] });
  return finished;
}

/** Does a service's due removals periodically. `stop` ends it after the current removal. */
export function startRemover(
  options: RemoverOptions & {
    readonly seconds: number;
    /** Called at the start of each round: finds removals that are due. */
    readonly before?: () => Promise<void>;
    readonly log: {
      info(text: string, fields: Readonly<Record<string, unknown>>): void;
      warn(text: string, fields: Readonly<Record<string, unknown>>): void;
    };
  },
): Pick<Rounds, "stop"> {
  const { seconds, before, log } = options;
  return startRounds({
    everyMs: seconds * 1000,
    isFirstNow: false,
    async round(isStopped) {
      await before?.();
      const removals = await removeDue(options, isStopped);
      if (removals > 0) log.info("removed what is past its time", { removals });
    },
    onError: (error) =>
      log.warn("not all that is past its time could be removed; the next round tries again", { error }),
  });
}

/** Rows that one transaction removes: their locks and dead rows are bounded. */
const ROWS_MAX = 1000;

/**
 * Declares a statement that removes at most `$1` rows of a table for which `condition` holds; its values are from `$2` on. It returns how many it
 * found and how many of them it removed: PostgreSQL leaves out a row that another transaction changed meanwhile.
 */
export function removalSql(name: string, table: string, condition: string): Statement {
  return sql(
    name,
    `WITH found AS MATERIALIZED (SELECT ctid AS place FROM ${table} WHERE ${condition} LIMIT $1::bigint),
       removed AS (DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT place FROM found)) RETURNING true)
     SELECT (SELECT count(*) FROM found)::float8 AS found, (SELECT count(*) FROM removed)::float8 AS removed`,
  );
}

/**
 * Returns a function that removes all rows of an organization from these tables of a schema in order: rows that refer to others are removed first.
 * Its `Db` runs as a role that may delete them. `first` runs at the start of each transaction.
 */
export function organizationRemover(
  schema: string,
  tables: readonly string[],
  first?: (tx: Tx) => Promise<void>,
): (db: Db, orgId: string) => Promise<void> {
  const statements = tables.map((table) =>
    removalSql(`${schema}_remove_${table}_of_org`, `${schema}.${table}`, "org_id = $2"),
  );
  return async (db, orgId) => {
    for (const statement of statements)
      await removeRows(db, orgId, { statement, values: [orgId], ...(first && { first }) });
  };
}

/** Runs a statement of `removalSql` until no row is left, each time in a transaction of the organization. `first` runs at the start of each of them. */
export async function removeRows(
  db: Db,
  orgId: string,
  {
    statement,
    values,
    first,
  }: {
    readonly statement: Statement;
    readonly values: readonly unknown[];
    readonly first?: (tx: Tx) => Promise<void>;
  },
): Promise<void> {
  for (;;) {
    const { found, removed } = await db.withTenant(orgId, async (tx) => {
      await first?.(tx);
      return (await tx.one<{ found: number; removed: number }>(statement, [ROWS_MAX, ...values]))!;
    });
    if (found < ROWS_MAX && removed === found) return;
  }
}
