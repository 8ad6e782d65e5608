import pg from "pg";
import { currentOrg, NO_TENANT } from "@tidemark/work";
import { beginRead, beginStream, beginWrite, ONE_PLAN, type Plans } from "./begin.rules.ts";
import { BinaryClient, eachRow, withObjects, columnTypes } from "./binary-rows.ts";
import { shareConnections } from "./pool/connections.ts";
import { boundStatements, type StatementTime } from "./pool/statement-time.ts";
import { queryOf, type Statement } from "./statement.ts";
import { endsSession, sqlState, toAppError } from "./pg-error.ts";

/** Runs statements: a pool, or one transaction of it. */
export type Tx = {
  /** Returns all rows, with column values as `columnTypes` says. */
  rows<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
  /** Returns the first row, or undefined. */
  one<Row>(statement: Statement, values: readonly unknown[]): Promise<Row | undefined>;
  /**
   * Passes on the rows of a `binarySql` statement one by one as they arrive. Bytes of a row are valid until `take` returns; its error is
   * thrown when the statement has ended.
   */
  each<Row>(statement: Statement, values: readonly unknown[], take: (row: Row) => void): Promise<void>;
  /** Returns how many rows the statement affected. */
  count(statement: Statement, values: readonly unknown[]): Promise<number>;
};

/**
 * A service's connection pool. Used as a Tx, it runs each statement in its own transaction. Organizations share the connections fairly: one takes
 * at most half of them while others use some, and never the last ones. A request without a connection waits for one, for the time that the URL says
 * and its deadline allows. Statements of a transaction take no longer than the deadline of the request that they are for.
 */
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
   * taken or the reader stops; a reader that takes none for a minute loses it. There are no retries.
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

const ROLE = /^[a-z_]{1,63}$/;
const RETRIES = 2;
const CONNECT_SECONDS = 1;
const STATEMENT_MS_MAX = 15_000;

/** How a transaction begins. */
type Begin = { readonly sql: string; readonly statementMsMax?: number | undefined };

/** Work for an organization takes connections as that organization, even when it calls definer functions. */
const tenantOfCaller = (): string => currentOrg() ?? NO_TENANT;

function connectSeconds(url: string): number {
  const asked = Number(URL.parse(url)?.searchParams.get("connect_timeout"));
  return asked > 0 ? asked : CONNECT_SECONDS;
}

/** Opens a pool. It connects lazily, so a database that is down shows at the first statement. */
export function createDb(options: DbOptions): Db {
  if (!ROLE.test(options.role)) throw new Error(`not a role name: ${options.role}`);
  const waitMs = connectSeconds(options.url) * 1000;
  const { statementTimeoutMs = STATEMENT_MS_MAX } = options;
  const pool = new pg.Pool({
    Client: BinaryClient,
    connectionString: options.url,
    application_name: options.application,
    max: options.connectionsMax,
    connectionTimeoutMillis: waitMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    types: columnTypes,
    options: [
      `-c role=${options.role}`,
      "-c timezone=UTC",
      "-c datestyle=ISO",
      "-c lock_timeout=3s",
      `-c statement_timeout=${statementTimeoutMs}`,
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

  const connections = shareConnections(pool, options.connectionsMax, waitMs);

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
    client: pg.PoolClient,
    statement: Statement,
    values: readonly unknown[],
  ): Promise<pg.QueryResult> => {
    const result = await client.query(queryOf(statement, values));
    return statement.rows === "binary" ? withObjects(result) : result;
  };

  /** How statements get a connection. */
  type Use = <T>(statement: Statement, work: (client: pg.PoolClient) => Promise<T>) => Promise<T>;

  const over = (use: Use): Tx => {
    const ask = (statement: Statement, values: readonly unknown[]): Promise<pg.QueryResult> =>
      use(statement, (client) => run(client, statement, values));
    return {
      rows: async <Row>(statement: Statement, values: readonly unknown[]) =>
        (await ask(statement, values)).rows as Row[],
      one: async <Row>(statement: Statement, values: readonly unknown[]) =>
        (await ask(statement, values)).rows[0] as Row | undefined,
      each: (statement, values, take) => use(statement, (client) => eachRow(client, statement, values, take)),
      count: async (statement, values) => (await ask(statement, values)).rowCount ?? 0,
    };
  };

  const overPool = over(async (statement, work) => {
    try {
      return await timed(statement, async () => {
        const { client, release } = await connections.take(tenantOfCaller());
        let broken: Error | undefined;
        try {
          return await work(client);
        } catch (error) {
          // The pool itself finds out whether a connection was lost, but later than the next statement may take this one.
          if (endsSession(error)) broken = error as Error;
          throw error;
        } finally {
          release(broken);
        }
      });
    } catch (error) {
      throw toAppError(error);
    }
  });

  const overClient = (client: pg.PoolClient, time: StatementTime): Tx =>
    over((statement, work) =>
      timed(statement, async () => {
        const setting = time.next();
        if (setting !== undefined) await client.query(setting);
        return work(client);
      }),
    );

  const beginOn = async (client: pg.PoolClient, text: string): Promise<void> => {
    const sinceMs = performance.now();
    await client.query(text);
    connections.began(performance.now() - sinceMs);
  };

  const attempt = async <T>(party: string, begin: Begin, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const { client, release } = await connections.take(party);
    let time: StatementTime | undefined;
    let broken: Error | undefined;
    try {
      time = boundStatements(statementTimeoutMs, begin.statementMsMax);
      await beginOn(client, `${begin.sql}${time.setting}`);
      const result = await work(overClient(client, time));
      await client.query("COMMIT");
      return result;
    } catch (error) {
      try {
        await client.query("ROLLBACK");
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
      throw time === undefined ? error : time.explain(error);
    } finally {
      release(broken);
    }
  };

  const stream = async function* <T>(
    party: string,
    begin: Begin,
    work: (tx: Tx) => AsyncIterable<T>,
  ): AsyncGenerator<T, void, undefined> {
    let broken: Error | undefined;
    const { client, release } = await connections.take(party, "stream").catch((error: unknown) => {
      throw toAppError(error);
    });
    try {
      const time = boundStatements(statementTimeoutMs);
      await beginOn(client, `${begin.sql}${time.setting}`);
      yield* work(overClient(client, time));
    } catch (error) {
      throw toAppError(error);
    } finally {
      await client.query("ROLLBACK").catch((error: unknown) => (broken = error as Error));
      release(broken);
    }
  };

  const retrying = async <T>(party: string, begin: Begin, work: (tx: Tx) => Promise<T>): Promise<T> => {
    for (let left = RETRIES; ; left -= 1) {
      try {
        return await attempt(party, begin, work);
      } catch (error) {
        const code = sqlState(error);
        if (left > 0 && (code === "40001" || code === "40P01")) continue;
        throw toAppError(error);
      }
    }
  };

  return {
    ...overPool,
    withTenant: (orgId, work, { plans } = {}) => retrying(orgId, { sql: beginWrite(orgId, plans) }, work),
    readTenant: (orgId, work, { statementMsMax, plans } = {}) =>
      retrying(orgId, { sql: beginRead(orgId, plans), statementMsMax }, work),
    streamTenant: (orgId, work, { plans } = {}) => stream(orgId, { sql: beginStream(orgId, plans) }, work),
    transaction: (work) => retrying(tenantOfCaller(), { sql: "BEGIN" }, work),
    stats: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: connections.waiting() }),
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
