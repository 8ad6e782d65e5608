/** PostgreSQL settings by name, as in postgresql.conf. */
export type PostgresSettings = Readonly<Record<string, string | number | boolean>>;

/**
 * The settings of an embedded server: every acknowledged commit is on the disk, many small commits are cheap, one laptop is
 * enough, and a killed client does not hold its locks for long.
 */
export const embeddedSettings: PostgresSettings = {
  // Only this machine can connect, and only with the password.
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  max_connections: 200,
  cluster_name: "tidemark",

  fsync: true,
  synchronous_commit: true,
  full_page_writes: true,
  // lz4 would be cheaper, but the packaged servers are built without it.
  wal_compression: true,
  shared_buffers: "256MB",
  max_wal_size: "2GB",
  checkpoint_timeout: "15min",
  // Its compile time is longer than any query here.
  jit: false,

  // A killed client's running statement would otherwise keep its locks until it ends.
  client_connection_check_interval: "1s",
  idle_in_transaction_session_timeout: "10s",

  timezone: "UTC",
  log_timezone: "UTC",
  log_line_prefix: "",
  log_checkpoints: false,
  // The client handles a refused statement, and its text may hold a user's data.
  log_min_messages: "log",
  log_min_error_statement: "panic",
};

/**
 * Settings as arguments of the server's command line, where no file in the data folder can override them. Pure.
 *
 * @throws Error for a text that is not the name of a setting
 */
export function settingArguments(settings: PostgresSettings): string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    if (!/^[a-z_][a-z0-9_.]*$/i.test(name)) throw new Error(`${JSON.stringify(name)} is not the name of a setting`);
    return ["-c", `${name}=${typeof value === "boolean" ? (value ? "on" : "off") : value}`];
  });
}
