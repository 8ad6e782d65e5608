// Tests run this as a process that they kill: it starts a server and prints where it is.
import { startChild } from "./start-child.ts";
import { startPostgres } from "./postgres/start-postgres.ts";

const [what = "", folder = ""] = process.argv.slice(2);
const say = (value: object): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

if (what === "postgres") {
  const { pid, port, url } = await startPostgres({ dataDir: folder, log: () => {} });
  say({ pid, port, url });
} else {
  const { pid } = await startChild({ command: "/bin/sleep", args: ["600"], cwd: folder, env: {} });
  say({ pid });
}
