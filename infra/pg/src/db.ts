import pg from "pg";
import { BinaryClient, eachRow } from "./binary-rows.ts";
import { queryOf, rowOf, type Statement } from "./statement.ts";
import { sqlState, toAppError } from "./pg-error.ts";
import { columnTypes } from "./types.ts";

/** Runs statements: a pool, or one transaction of it. */
export type Tx = {
  /** Returns all rows, with column values as `columnTypes` says. */
  rows<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  one<Row>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined>;
  /**
   * Passes on the rows of a `binarySql` statement one by one as they arrive. Bytes of a row are valid until `take` returns; what it throws is
   * thrown when the statement has ended.
   */
  each<Row>(statement: Statement, values: readonly unknown[], take: (row: Row) => void): Promise<void>;
  /** Returns how many rows the statement affected. */
  count(statement: Statement, values: readonly unknown[]): Promise<number>;
};

/** A service's connection pool. Used as a Tx, it runs each statement in its own transaction. */
export type Db = Tx & {
  /**
   * Runs `work` in one transaction that sees and writes only one organization's rows: row level
   * security compares every row with the setting that is made here and ends with the transaction.
   * Serialization failures and deadlocks are retried twice, so `work` must not have effects outside
   * the database.
   */
  withTenant<T>(orgId: string, work: (tx: Tx) => Promise<T>, options?: Pick<ReadOptions, "plans">): Promise<T>;
  /** As `withTenant`, but only reads: all statements of `work` see the same moment. */
  readTenant<T>(orgId: string, work: (tx: Tx) => Promise<T>, options?: ReadOptions): Promise<T>;
  /**
   * As `readTenant`, for rows that are passed on as they are read. The transaction, and with it a connection, stays open until the last row is
   * taken or whoever takes them stops; whoever takes none for `STREAM_IDLE_MS_MAX` loses it. Nothing is retried.
   */
  streamTenant<T>(
    orgId: string,
    work: (tx: Tx) => AsyncIterable<T>,
    options?: Pick<ReadOptions, "plans">,
  ): AsyncGenerator<T, void, undefined>;
  /** Runs `work` in one transaction without an organization, for definer functions and a service's global tables. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Pool figures for the internal metrics. */
  stats(): { total: number; idle: number; waiting: number };
  /** Resolves to true if a statement that needs a writable primary succeeded. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
};

/** How a reading transaction runs its statements. */
export type ReadOptions = {
  /** Milliseconds that a statement may take, in place of the pool's limit. */
  readonly statementMsMax?: number;
  readonly plans?: Plans;
};

/**
 * How PostgreSQL may plan the statements of a transaction. `walks`: a page in an order is read by walking the index of that order, never by sorting
 * what the planner takes for few rows, wherever there is such an index. `by values`: the same, and statements of `plannedSql` get a plan for their
 * values. Default: one plan for all values.
 */
export type Plans = "walks" | "by values";

/** Options of a pool. */
export type DbOptions = {
  /**
   * postgres:// URL of a login role that may become `role`. As with libpq, `connect_timeout=<seconds>` in it says how long a
   * statement waits for a connection; default: 1.
   */
  url: string;
  /** The service's database role; every connection becomes it before its first statement. */
  role: string;
  /** Shown in pg_stat_activity. */
  application: string;
  /** Most connections, 1..200. */
  connectionsMax: number;
  /** Milliseconds a statement may take before PostgreSQL cancels it. */
  statementTimeoutMs?: number;
  /** Called with the statement's name and its seconds, for the metrics. */
  onQuery?: (name: string, seconds: number, failed: boolean) => void;
  /** Called when an idle connection breaks. */
  onError?: (error: Error) => void;
};

/**
 * PostgreSQL plans for the average tenant, and for tables as small as they were then, but one plan has to serve every tenant, whatever statistics
 * there are. So plans do not depend on values, and those that read a whole table, or all rows of an organization, to join a few of them are not
 * considered. ADR 20 tells how statements are written for that.
 */
const ONE_PLAN = [
  "-c plan_cache_mode=force_generic_plan",
  "-c enable_seqscan=off",
  "-c enable_hashjoin=off",
  "-c enable_mergejoin=off",
];

const WALKS = "; SET LOCAL enable_sort = off; SET LOCAL enable_incremental_sort = off";

const SETTINGS_OF_PLANS: Readonly<Record<Plans, string>> = {
  walks: WALKS,
  // The plan that reads the fewest rows wins: rows with long texts cost far more to compare than PostgreSQL assumes.
  "by values": `${WALKS}; SET LOCAL plan_cache_mode = auto; SET LOCAL cpu_tuple_cost = 10`,
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ROLE = /^[a-z_]{1,63}$/;
const RETRIES = 2;
const CONNECT_SECONDS = 1;

/** Milliseconds that a transaction of `streamTenant` waits for rows to be taken: time for 100 KB/s to take a batch of some megabytes. */
const STREAM_IDLE_MS_MAX = 60_000;

function enter(orgId: string): string {
  if (!UUID.test(orgId)) throw new Error("a tenant transaction needs an organization id");
  return `SET LOCAL app.org_id = '${orgId}'`;
}

function connectSeconds(url: string): number {
  const asked = Number(URL.parse(url)?.searchParams.get("connect_timeout"));
  return asked > 0 ? asked : CONNECT_SECONDS;
}

/** Turns the rows of a result from arrays into objects, as other results have them. */
function withObjects(result: pg.QueryResult): pg.QueryResult {
  const names = result.fields.map(({ name }) => name);
  return { ...result, rows: (result.rows as unknown[][]).map((values) => rowOf(names, values)) };
}

/** Opens a pool. It connects lazily, so a database that is down shows at the first statement. */
export function createDb(options: DbOptions): Db {
  if (!ROLE.test(options.role)) throw new Error(`not a role name: ${options.role}`);
  const pool = new pg.Pool({
    Client: BinaryClient,
    connectionString: options.url,
    application_name: options.application,
    max: options.connectionsMax,
    connectionTimeoutMillis: connectSeconds(options.url) * 1000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: columnTypes,
    options: [
      `-c role=${options.role}`,
      "-c timezone=UTC",
      "-c datestyle=ISO",
      "-c lock_timeout=3s",
      `-c statement_timeout=${options.statementTimeoutMs ?? 15_000}`,
      "-c idle_in_transaction_session_timeout=10s",
      "-c client_connection_check_interval=1s",
      // One core per request: a tenant's request must not take the share of other tenants.
      "-c max_parallel_workers_per_gather=0",
      "-c jit=off",
      // For SSDs: the default is for disks with moving heads.
      "-c random_page_cost=1.1",
      ...ONE_PLAN,
    ].join(" "),
  });
  // The pool counts as ended before its sockets are closed; errors on them are then expected.
  let closing = false;
  pool.on("error", (error) => {
    if (!closing) options.onError?.(error);
  });

  // The pool listens only to idle connections. Without this listener, a connection that is lost between two statements of a transaction would
  // end the process; the next statement fails anyway.
  pool.on("connect", (client) => client.on("error", () => {}));

  const timed = async <T>({ name }: Statement, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    let failed = true;
    try {
      const result = await work();
      failed = false;
      return result;
    } finally {
      options.onQuery?.(name, (performance.now() - started) / 1000, failed);
    }
  };

  const run = async (
    client: pg.Pool | pg.PoolClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<pg.QueryResult> => {
    const result = await client.query(queryOf(statement, values));
    return statement.rows === "binary" ? withObjects(result) : result;
  };

  /** Takes a client from the pool if it gets none. */
  const runEach = async <Row>(
    client: pg.Pool | pg.PoolClient,
    statement: Statement,
    values: readonly unknown[],
    take: (row: Row) => void,
  ): Promise<void> => {
    if (client !== pool) return eachRow(client as pg.PoolClient, statement, values, take);
    const own = await pool.connect();
    try {
      await eachRow(own, statement, values, take);
    } finally {
      own.release();
    }
  };

  const over = (client: pg.Pool | pg.PoolClient, wrap: boolean): Tx => {
    const asked = async <T>(statement: Statement, work: () => Promise<T>): Promise<T> => {
      if (!wrap) return timed(statement, work);
      try {
        return await timed(statement, work);
      } catch (error) {
        throw toAppError(error);
      }
    };
    const ask = (statement: Statement, values: readonly unknown[]): Promise<pg.QueryResult> =>
      asked(statement, () => run(client, statement, values));
    return {
      rows: async <Row>(statement: Statement, values: readonly unknown[]) =>
        (await ask(statement, values)).rows as Row[],
      one: async <Row>(statement: Statement, values: readonly unknown[]) =>
        (await ask(statement, values)).rows[0] as Row | undefined,
      each: (statement, values, take) => asked(statement, () => runEach(client, statement, values, take)),
      count: async (statement, values) => (await ask(statement, values)).rowCount ?? 0,
    };
  };

  const attempt = async <T>(begin: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    let broken: Error | undefined;
    try {
      await client.query(begin);
      const result = await work(over(client, false));
      await client.query("COMMIT");
      return result;
    } catch (error) {
      try {
        await client.query("ROLLBACK");
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      throw error;
    } finally {
      client.release(broken);
    }
  };

  const stream = async function* <T>(
    begin: string,
    work: (tx: Tx) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    let broken: Error | undefined;
    const client = await pool.connect().catch((error: unknown) => {
      throw toAppError(error);
    });
    try {
      await client.query(begin);
      yield* work(over(client, false));
    } catch (error) {
      throw toAppError(error);
    } finally {
      await client.query("ROLLBACK").catch((error: unknown) => (broken = error as Error));
      client.release(broken);
    }
  };

  const retrying = async <T>(begin: string, work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let left = RETRIES; ; left -= 1) {
      try {
        return await attempt(begin, work);
      } catch (error) {
        const code = sqlState(error);
        if (left > 0 && (code === "40001" || code === "40P01")) continue;
        throw toAppError(error);
      }
    }
  };

  return {
    ...over(pool, true),
    withTenant: (orgId, work, { plans } = {}) =>
      retrying(`BEGIN; ${enter(orgId)}${plans === undefined ? "" : SETTINGS_OF_PLANS[plans]}`, work),
    readTenant: (orgId, work, { statementMsMax, plans } = {}) => {
      const bound = statementMsMax === undefined ? "" : `; SET LOCAL statement_timeout = ${Math.trunc(statementMsMax)}`;
      const settings = plans === undefined ? "" : SETTINGS_OF_PLANS[plans];
      return retrying(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${enter(orgId)}${bound}${settings}`, work);
    },
    streamTenant: (orgId, work, { plans } = {}) => {
      const idle = `; SET LOCAL idle_in_transaction_session_timeout = ${STREAM_IDLE_MS_MAX}`;
      const settings = plans === undefined ? "" : SETTINGS_OF_PLANS[plans];
      return stream(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${enter(orgId)}${idle}${settings}`, work);
    },
    transaction: (work) => retrying("BEGIN", work),
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    ping: async () => {
      try {
        const { rows } = await pool.query<{ ok: boolean }>({
          name: "pg_ping",
          text: "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off' AS ok",
        });
        return rows[0]?.ok === true;
      } catch {
        return false;
      }
    },
    close: () => {
      closing = true;
      return pool.end();
    },
  };
}
