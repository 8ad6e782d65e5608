export {
  boolArray,
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  readFloat8Array,
  textArray,
  uuidArray,
  composite,
  field,
  type Composite,
} from "./binary-array.ts";
export { createDb, type Db, type DbOptions, type ReadOptions, type Tx } from "./db.ts";
export {
  claimKey,
  fingerprint,
  idempotencyHashes,
  idempotencyHashesInTurns,
  isAnswered,
  keepReply,
  keyInProgress,
  keyReused,
  withIdempotency,
  type IdempotentReply,
  type IdempotentRequest,
} from "./idempotency.ts";
export { prepareLogins, type Login } from "./logins.ts";
export {
  migrate,
  platformMigrations,
  isFrozen,
  readMigrationFiles,
  type MigrationReport,
  type MigrationSet,
} from "./migrate.ts";
export { putOutbox, startRelay, type OutboxMessage, type Relay, type RelayedMessage } from "./outbox.ts";
export { sqlState } from "./pg-error.ts";
export { binarySql, declaredStatements, plannedSql, sql, type Statement } from "./statement.ts";
export {
  beginRemovals,
  organizationRemover,
  removalSql,
  removeDue,
  removeRows,
  startRemover,
  type Removal,
  type RemovalKind,
  type RemoverOptions,
} from "./removals.ts";
export { columnTypes } from "./binary-rows.ts";
export { inBatches, streamPages, type ReadPage } from "./pages.ts";
