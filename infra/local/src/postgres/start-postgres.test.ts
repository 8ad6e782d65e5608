import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import pg from "pg";
import { freePort } from "../free-port.ts";
import { processesIn } from "../claim-folder.ts";
import { hasEnded, holdInProcess, killHard } from "../held-server.fixture.ts";
import { type PostgresSource, packagedPostgres } from "./obtain-postgres.ts";
import { type Postgres, type PostgresOptions, startPostgres } from "./start-postgres.ts";

// One file, because each case starts a server and they take turns.

const asRoot = process.getuid?.() === 0;

let folder = "";
let running: Postgres[] = [];

/** A folder with an empty database, which each copy saves a second of making. */
let made = "";

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "postgres-"));
  await (await startPostgres({ dataDir: join(made, "data"), log: () => {}, settings: { fsync: false } })).stop();
});

afterAll(() => rm(made, { recursive: true }));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "postgres-"));
});

afterEach(async () => {
  for (const server of running) await server.stop();
  running = [];
  await rm(folder, { recursive: true });
});

const dataDir = (): string => join(folder, "data");

/** A server on data that need not survive a power cut, stopped after the test. */
async function start(options: Partial<PostgresOptions> = {}): Promise<Postgres> {
  const server = await startPostgres({ dataDir: dataDir(), log: () => {}, settings: { fsync: false }, ...options });
  running.push(server);
  return server;
}

/** Puts a database that was stopped into the data folder. */
async function copyMade(): Promise<void> {
  const copying = spawn("cp", ["-a", join(made, "data"), dataDir()]);
  expect(await once(copying, "exit")).toEqual([0, null]);
}

async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: url });
  // A server that shuts down sends its clients an error; the test ignores that.
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: "array" })).rows as unknown[][];
  } finally {
    await client.end();
  }
}

async function expectAnswer({ url }: Postgres): Promise<void> {
  expect(await query(url, "SELECT 1")).toEqual([[1]]);
}

describe("an empty folder", () => {
  test("becomes a database with durable commits, checksums and one user with a password, in files that others cannot read", async () => {
    const server = await start({ settings: {} });
    const expected = {
      fsync: "on",
      synchronous_commit: "on",
      full_page_writes: "on",
      data_checksums: "on",
      wal_compression: "pglz",
      jit: "off",
      max_connections: "200",
      shared_buffers: "256MB",
      max_wal_size: "2GB",
      checkpoint_timeout: "15min",
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      client_connection_check_interval: "1s",
      idle_in_transaction_session_timeout: "10s",
      server_encoding: "UTF8",
      password_encryption: "scram-sha-256",
    };
    const names = Object.keys(expected);
    const shown = await query(server.url, `SELECT ${names.map((name) => `current_setting('${name}')`).join(", ")}`);
    expect(Object.fromEntries(names.map((name, i) => [name, shown[0]?.[i]]))).toEqual(expected);
    expect(server.major).toBe(18);
    const modes = await Promise.all(["", "cluster", "superuser-password"].map((name) => stat(join(dataDir(), name))));
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o700, 0o600]);
    const wrong = new URL(server.url);
    wrong.password = "wrong";
    await expect(query(wrong.href, "SELECT 1")).rejects.toThrow("password authentication failed");
  });

  test("takes settings of the caller's, is collated by code point, and knows the letters of all scripts", async () => {
    const { url } = await start({ settings: { fsync: false, work_mem: "7MB", max_connections: 17 } });
    const shown = "SELECT current_setting('fsync'), current_setting('work_mem'), current_setting('max_connections')";
    expect(await query(url, shown)).toEqual([["off", "7MB", "17"]]);
    const sorted = "SELECT string_agg(x, '' ORDER BY x) FROM unnest(array['b','A','a','B','ä','Z']) AS x";
    expect(await query(url, sorted)).toEqual([["ABZabä"]]);
    expect(await query(url, "SELECT lower('ÄΩ'), upper('straße')")).toEqual([["äω", "STRAßE"]]);
  });

  test("half created by a process that was killed is created again", async () => {
    await mkdir(join(dataDir(), "cluster.new-abc/base"), { recursive: true });
    await writeFile(join(dataDir(), "superuser-password"), "of no cluster");
    await expectAnswer(await start());
    expect((await readdir(dataDir())).sort()).toEqual(["cluster", "in-use.lock", "superuser-password"]);
  });

  test("with a setting that no server knows is one clear line, and the folder is free again", async () => {
    await expect(start({ settings: { fsync: false, no_such_setting: 1 } })).rejects.toMatchObject({
      name: "StartError",
      message: 'PostgreSQL did not start: unrecognized configuration parameter "no_such_setting"',
    });
    await expectAnswer(await start());
  });
});

describe("a second start", () => {
  beforeEach(copyMade);

  test("keeps the data and the password, and logs nothing", async () => {
    const first = await start();
    await query(first.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await first.stop();
    expect(await readdir(dataDir())).not.toContain("in-use.lock");
    const said: string[] = [];
    const second = await start({ log: (line) => said.push(line), port: first.port });
    expect(second.url).toBe(first.url);
    expect(await query(second.url, "SELECT answer FROM kept")).toEqual([[42]]);
    expect(said).toEqual([]);
  });

  test("of a folder that is in use says who uses it", async () => {
    await start();
    await expect(startPostgres({ dataDir: dataDir(), log: () => {} })).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringMatching(
        new RegExp(`^the data folder ${dataDir()} is in use by another Tidemark \\(process ${process.pid} on .*\\)`),
      ),
    });
  });

  test("on a port in use is one clear line", async () => {
    const port = await freePort();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    await expect(start({ port })).rejects.toMatchObject({
      name: "StartError",
      message: `port ${port}, meant for PostgreSQL, is in use by another program`,
    });
    await new Promise((resolve) => other.close(resolve));
  });

  test("without the password file is one clear line", async () => {
    await rm(join(dataDir(), "superuser-password"));
    await expect(start()).rejects.toMatchObject({ name: "StartError", message: expect.stringMatching(/password/) });
  });

  test("of a folder that is not a database is one clear line", async () => {
    await rm(dataDir(), { recursive: true });
    await mkdir(join(dataDir(), "cluster"), { recursive: true });
    if (asRoot) await chown(join(dataDir(), "cluster"), 1, 1);
    await expect(start()).rejects.toMatchObject({
      name: "StartError",
      message: `${join(dataDir(), "cluster")} is not a PostgreSQL data folder: it has no PG_VERSION`,
    });
  });
});

describe("a folder of another major version", () => {
  const unreachable: PostgresSource = {
    ...packagedPostgres({ cacheDir: "/nowhere", env: {}, log: () => {} }),
    fetched: () => Promise.resolve([]),
    offered: () => Promise.resolve(["18.4.0-beta.17", "17.10.0-beta.17"]),
  };

  test("that no package can open is one clear line, and its data are left alone", async () => {
    await copyMade();
    const version = join(dataDir(), "cluster/PG_VERSION");
    await writeFile(version, "99\n");
    await expect(start({ source: unreachable })).rejects.toMatchObject({
      name: "StartError",
      message: expect.stringMatching(/^this data folder was made by PostgreSQL 99: there is no package/),
    });
    await writeFile(version, "18\n");
    await expectAnswer(await start());
  });
});

describe("after a kill", () => {
  beforeEach(copyMade);

  test("nothing that was committed is lost, and no server is left behind", async () => {
    const { holder, server } = await holdInProcess("postgres", dataDir());
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    await killHard(holder);
    const next = await start({ port: server.port });
    expect(await query(next.url, "SELECT answer FROM kept")).toEqual([[42]]);
    expect(await hasEnded(server.pid)).toBe(true);
  });

  test("the server ends by itself, even when no other is started", async () => {
    const { holder, server } = await holdInProcess("postgres", dataDir());
    await killHard(holder);
    expect(await hasEnded(server.pid)).toBe(true);
    expect(await processesIn(join(dataDir(), "cluster"), "postgres")).toEqual([]);
  });

  test("a server without a process to end it is stopped by the next start", async () => {
    const orphan = await orphanServer(join(dataDir(), "cluster"));
    const said: string[] = [];
    const next = await start({ log: (line) => said.push(line) });
    await expectAnswer(next);
    expect(orphan.exitCode).toBe(0);
    expect(said).toEqual(["Stopping postgres, which a killed Tidemark left behind"]);
  });

  test("the server itself killed as well, the next one recovers", async () => {
    const { holder, server } = await holdInProcess("postgres", dataDir());
    await query(server.url, "CREATE TABLE kept AS SELECT 42 AS answer");
    process.kill(server.pid, "SIGKILL");
    await killHard(holder);
    expect(await query((await start()).url, "SELECT answer FROM kept")).toEqual([[42]]);
  });

  test("a lock file whose process id now belongs to another program does not block the next start", async () => {
    const first = await start();
    const lockFile = await readFile(join(dataDir(), "cluster/postmaster.pid"), "utf8");
    await first.stop();
    const { uid, gid } = await stat(join(dataDir(), "cluster"));
    const stranger = spawn("sleep", ["600"], { uid, gid });
    await writeFile(join(dataDir(), "cluster/postmaster.pid"), lockFile.replace(/^\d+/, String(stranger.pid)));
    await expectAnswer(await start());
    expect(stranger.exitCode).toBeNull();
    stranger.kill();
    await once(stranger, "exit");
  });
});

test("a server that ends by itself is noticed, and stopping it afterwards is quiet", async () => {
  await copyMade();
  const server = await start();
  process.kill(server.pid, "SIGQUIT");
  await server.exited;
  await server.stop();
  await expectAnswer(await start());
});

(asRoot ? describe : describe.skip)("as root", () => {
  test("the server runs as another account, in a folder whose parents are closed to that account", async () => {
    await chmod(folder, 0o700);
    const server = await start();
    const { uid } = await stat(join(dataDir(), "cluster"));
    expect(uid).not.toBe(0);
    const status = await readFile(`/proc/${server.pid}/status`, "utf8");
    expect(status).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s`, "m"));
    await expectAnswer(server);
  });

  test("a folder that root has copied is given back to the server's account", async () => {
    await copyMade();
    const giveToRoot = spawn("chown", ["-R", "0:0", join(dataDir(), "cluster")]);
    await once(giveToRoot, "exit");
    await chmod(join(dataDir(), "cluster"), 0o755);
    await expectAnswer(await start());
  });

  test("programs that the account cannot read are copied to where it can", async () => {
    const source = packagedPostgres({ cacheDir: join(folder, "cache"), env: {}, log: () => {} });
    const bundled = await source.bundled();
    const closed = join(folder, "closed");
    const copying = spawn("cp", ["-a", String(bundled?.packageDir), closed]);
    await once(copying, "exit");
    await chmod(closed, 0o700);
    await copyMade();
    const version = "18.0.0-test";
    await chmod(folder, 0o755);
    const cacheDir = join(folder, "cache");
    const server = await start({
      cacheDir,
      source: { ...source, bundled: () => Promise.resolve({ packageDir: closed, version }) },
    });
    await expectAnswer(server);
    expect(await readdir(join(cacheDir, "readable"))).toEqual([expect.stringContaining(version)]);
  });
});

/** A server whose Tidemark and watcher have both died. */
async function orphanServer(cluster: string): Promise<ChildProcess> {
  const bundled = await packagedPostgres({ cacheDir: "/nowhere", env: {}, log: () => {} }).bundled();
  const { uid, gid } = await stat(cluster);
  const port = await freePort();
  const args = ["-D", asRoot ? "/proc/self/cwd" : cluster, "-p", String(port), "-c", "unix_socket_directories="];
  const child = spawn(join(bundled?.packageDir ?? "", "native/bin/postgres"), args, {
    cwd: cluster,
    uid,
    gid,
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  for await (const bytes of child.stderr) {
    said += String(bytes);
    if (said.includes("ready to accept connections")) break;
  }
  return child;
}
