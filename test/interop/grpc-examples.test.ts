import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "@jest/globals";
import { allModules } from "@tidemark/all";
import { requirePython, requireServers } from "@tidemark/testkit";
import { describeWith } from "../stack/describe-with.ts";
import { describeModes } from "../stack/modes.ts";
import type { Stack } from "../stack/stack.ts";

// The examples of docs/grpc.md, as a user would run them.

const examples = join(import.meta.dirname, "../../examples/grpc");
const grpcurl = await requireServers(["grpcurl"]);
const python = await requirePython({
  requirements: join(examples, "requirements.txt"),
  leftOut: "the gRPC example in Python (examples/grpc)",
});

/** Returns what a program printed; throws when it failed. */
async function run(program: string, args: readonly string[], settings: Readonly<Record<string, string>>) {
  const PATH = [settings["PATH"], process.env["PATH"]].filter(Boolean).join(delimiter);
  const child = spawn(program, args, { env: { ...settings, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  if (code !== 0) throw new Error(`${program} ended with ${String(code)}:\n${stderr}`);
  return stdout;
}

async function settingsFor(stack: Stack) {
  const { orgId, api } = await stack.organization();
  const address = (module: string): string => `127.0.0.1:${stack.grpcPorts.get(module)}`;
  const settings = {
    RUNS_ADDRESS: address("runs"),
    INGEST_ADDRESS: address("ingest"),
    TIDEMARK_INTERNAL_TOKEN: stack.internalToken,
    ORG_ID: orgId,
  };
  return { settings, api };
}

describeModes("the gRPC examples", (stack) => {
  /** Runs one of the programs that write metrics and checks what it says and what is stored. */
  const expectMetricsWritten = async (program: string, file: string): Promise<void> => {
    const { settings, api } = await settingsFor(stack());
    expect((await run(program, [join(examples, file)], settings)).trimEnd().split("\n")).toEqual([
      expect.stringMatching(/^run \S+ of project grpc is running$/),
      "inserted 6, replayed false",
      "inserted 6, replayed true",
      "NOT_FOUND, reason not_found: run not found",
    ]);
    const [listed] = (await api.get("/runs")).json.runs as { id: string }[];
    const { metrics } = (await api.get(`/runs/${listed?.id}/metrics?key=loss`)).json as {
      metrics: { step: number; value: number }[];
    };
    expect(metrics.map(({ step, value }) => [step, value])).toEqual([
      [0, 2.3],
      [1, 1.2],
      [2, 0.8],
    ]);
  };

  test("write-metrics.mjs creates a run, writes metrics once and reads an error", async () => {
    await expectMetricsWritten(process.execPath, "write-metrics.mjs");
  });

  describeWith(python)("with grpcio", () => {
    test("write_metrics.py creates a run, writes metrics once and reads an error", async () => {
      await expectMetricsWritten(python!.python, "write_metrics.py");
    });
  });

  describeWith(grpcurl)("with grpcurl", () => {
    test("list-projects.sh lists the projects of the organization alone", async () => {
      const { settings, api } = await settingsFor(stack());
      await api.post("/runs", { project: "mine" });
      await (await stack().organization()).api.post("/runs", { project: "foreign" });
      const PATH = dirname(grpcurl!.get("grpcurl")!);
      const printed = await run("sh", [join(examples, "list-projects.sh")], { ...settings, PATH });
      const { projects } = JSON.parse(printed) as { projects: { name: string }[] };
      expect(projects.map(({ name }) => name)).toEqual(["mine"]);
    });
  });
});

const page = await readFile(join(examples, "../../docs/grpc.md"), "utf8");

test.each(["list-projects.sh", "write-metrics.mjs", "write_metrics.py"])(
  "docs/grpc.md shows %s as it is",
  async (file) => {
    expect(page).toContain(`\n${await readFile(join(examples, file), "utf8")}\`\`\`\n`);
  },
);

test("docs/grpc.md names every service with its process, and every call that takes an idempotency key", () => {
  const provided = allModules.flatMap(({ name, provides }) => provides.map((service) => ({ name, service })));
  for (const { name, service } of provided) {
    expect(page).toMatch(new RegExp(`\\| \`${service.typeName}\` +\\| \`${name}\` +\\|`));
  }
  const keyed = provided.flatMap(({ service }) =>
    service.methods.filter(({ input }) => input.fields.some((field) => field.name === "idempotency_key")),
  );
  const sentence = page.split("\n").find((line) => line.includes("**Writes with an idempotency key**"));
  expect([...(sentence ?? "").matchAll(/`([A-Z]\w+)`/g)].map((match) => match[1] ?? "").toSorted()).toEqual(
    keyed.map(({ name }) => name).toSorted(),
  );
});
