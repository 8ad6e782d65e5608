import { rm } from "node:fs/promises";
import { startPostgres } from "@tidemark/local";
import { makePostgresFolder, postgresMajor, withPatience } from "@tidemark/testkit";

/** A server that a test may stop and kill. After a new start it has the same address and the same data. */
export type Server = {
  /** Where its data are. */
  readonly directory: string;
  /** Stops it; of one that was killed it gives the folder back. */
  stop(): Promise<void>;
  /** Starts it after it was stopped or killed. */
  start(): Promise<void>;
  /** To its process, if that is there. */
  signal(name: NodeJS.Signals): void;
};

type Running = {
  readonly pid: number;
  readonly port: number;
  readonly exited: Promise<unknown>;
  stop(): Promise<void>;
};
type Options = { readonly dir: string; readonly port?: number; readonly log: () => void };

/** Starts a server in a folder, and returns it with the output of its first start. */
export async function startServer<T extends Running>(
  directory: string,
  start: (options: Options) => Promise<T>,
): Promise<{ readonly first: T; readonly server: Server }> {
  const log = (): void => {};
  const first = await start({ dir: directory, log });
  let running = first;
  let over = false;
  const watch = (server: T): void => {
    over = false;
    void server.exited.then(() => {
      over = true;
    });
  };
  watch(first);
  const server: Server = {
    directory,
    stop: () => running.stop(),
    async start() {
      await running.stop();
      running = await start({ dir: directory, port: first.port, log });
      watch(running);
    },
    signal(name) {
      if (!over) process.kill(running.pid, name);
    },
  };
  return { first, server };
}

/** A PostgreSQL of one test alone, with durable commits. `end` deletes its data. */
export type OwnPostgres = Server & { readonly url: string; end(): Promise<void> };

/** Starts a PostgreSQL that the test may stop and kill. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const directory = await makePostgresFolder();
  const { first, server } = await startServer(directory, ({ dir, ...options }) =>
    startPostgres({ dataDir: dir, newMajor: postgresMajor, ...options }),
  );
  return {
    ...server,
    url: withPatience(first.url),
    async end() {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
