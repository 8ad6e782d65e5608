import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import { describeModes } from "../stack/modes.ts";
import { fixtures, newFolder, startTidemark } from "./cli.fixture.ts";
import { contentOf, linesOf, ofKind, writeEverything, writeVersion } from "./archive.fixture.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describeModes("the command line", (stack) => {
  const start = (state: string, key: string, ...args: string[]) =>
    startTidemark({ baseUrl: stack().baseUrl, key, state }, args);
  const tidemarkWith = (state: string, key: string, ...args: string[]) => start(state, key, ...args).ended;
  const tidemark = (key: string, ...args: string[]) => tidemarkWith(newFolder(), key, ...args);

  test("exports a project with the bytes of artifacts and versions, and again only what is missing", async () => {
    const { api, key } = await stack().organization();
    const { runId } = await writeEverything(api, "demo");
    await writeVersion(api, runId, "weights");
    const out = newFolder();
    expect(await tidemark(key, "export", "--project", "demo", "--out", out)).toMatchObject({ code: 0 });
    const lines = linesOf({ text: readFileSync(join(out, "archive.ndjson"), "utf8") });
    expect(lines.at(-1)).toMatchObject({ line: "end" });
    const named = [
      ...ofKind(lines, "artifact").flatMap((line) => (line.uri === undefined ? [line.sha256!] : [])),
      ...ofKind(lines, "version.entries").flatMap(({ entries }) => entries.flatMap((entry) => entry.sha256 ?? [])),
    ];
    expect(named).toContain(sha256(Buffer.from("png")));
    expect(named).toContain(sha256(Buffer.from("weights")));
    const files = (): string[] => readdirSync(join(out, "bytes")).toSorted();
    expect(files()).toEqual([...new Set(named)].toSorted());
    for (const name of files()) expect(sha256(readFileSync(join(out, "bytes", name)))).toBe(name);

    // One is gone, one is damaged, and one arrived in part.
    const [first, second] = files();
    const whole = readFileSync(join(out, "bytes", first!));
    rmSync(join(out, "bytes", first!));
    writeFileSync(join(out, "bytes", `${first!}.part`), whole.subarray(0, 2));
    truncateSync(join(out, "bytes", second!), 1);
    expect(await tidemark(key, "export", "--project", "demo", "--out", out)).toMatchObject({ code: 0 });
    expect(files()).toEqual([...new Set(named)].toSorted());
    for (const name of files()) expect(sha256(readFileSync(join(out, "bytes", name)))).toBe(name);
  });

  test("copies an export into another organization, with all bytes", async () => {
    const { api, key } = await stack().organization();
    const { runId } = await writeEverything(api, "demo");
    await writeVersion(api, runId, "weights");
    const out = newFolder();
    expect(await tidemark(key, "export", "--project", "demo", "--out", out)).toMatchObject({ code: 0 });
    const other = await stack().organization();
    expect(await tidemark(other.key, "import", out)).toMatchObject({ code: 0 });
    const again = newFolder();
    expect(await tidemark(other.key, "export", "--project", "demo", "--out", again)).toMatchObject({ code: 0 });
    const text = (folder: string): string => readFileSync(join(folder, "archive.ndjson"), "utf8");
    const [run] = ofKind(linesOf({ text: text(again) }), "run");
    expect(contentOf(text(again))).toEqual(contentOf(text(out).replaceAll(runId, run!.id)));
    const files = (folder: string): string[] => readdirSync(join(folder, "bytes")).toSorted();
    expect(files(again)).toEqual(files(out));
  });

  test("exports named runs, and points as Parquet", async () => {
    const { api, key } = await stack().organization();
    const { runId } = await writeEverything(api, "demo");
    await api.post("/runs", { project: "demo", name: "other" });
    const out = newFolder();
    expect(await tidemark(key, "export", "--run", runId, "--out", out)).toMatchObject({ code: 0 });
    const lines = linesOf({ text: readFileSync(join(out, "archive.ndjson"), "utf8") });
    expect(ofKind(lines, "run").map(({ id }) => id)).toEqual([runId]);
    const parquet = ["export", "--project", "demo", "--format", "parquet", "--out", out];
    expect(await tidemark(key, ...parquet)).toMatchObject({ code: 0 });
    expect(readFileSync(join(out, "points.parquet")).subarray(-4).toString()).toBe("PAR1");
  });

  test("says why there is no export", async () => {
    const { key } = await stack().organization();
    const unknown = await tidemark(key, "export", "--project", "nowhere", "--out", newFolder());
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining("404") });
    const stranger = await tidemark("wrong", "export", "--project", "demo", "--out", newFolder());
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringContaining("401") });
  });

  test("watches runs of W&B to their end, and sends nothing twice", async () => {
    const { api, key } = await stack().organization();
    const path = join(fixtures, "wandb-0.31.0/data/wandb/offline-run-20261122_231259-main");
    const state = newFolder();
    const watch = () => tidemarkWith(state, key, "import", path, "--project", "nets", "--watch");
    expect(await watch()).toMatchObject({ code: 0 });
    const [run] = (await api.get("/runs?project=nets")).json.runs as { id: string; status: string }[];
    expect(run).toMatchObject({ status: "finished" });
    const points = async () => (await api.get(`/api/export?format=ndjson&run_ids=${run!.id}`)).text;
    const before = ofKind(linesOf({ text: await points() }), "points");
    expect(before.length).toBeGreaterThan(0);
    expect(await watch()).toMatchObject({ code: 0 });
    expect(ofKind(linesOf({ text: await points() }), "points")).toEqual(before);
    const read = await tidemark(key, "import", path, "--dry-run");
    const count = before.reduce((sum, { columns }) => sum + columns.value.length, 0);
    expect(read.stdout).toContain(` ${count} points`);
  });

  test("closes runs of TensorBoard at Ctrl-C, and opens them again for later data", async () => {
    const { api, key } = await stack().organization();
    const data = join(fixtures, "tensorboard-2.21.0/data");
    const [name] = readdirSync(data).filter((file) => file.includes("tfevents"));
    const [folder, state] = [newFolder(), newFolder()];
    const events = readFileSync(join(data, name!));
    const args = ["import", folder, "--project", "boards", "--watch"];
    const counts: number[] = [];
    for (const bytes of [events.length / 2, events.length]) {
      writeFileSync(join(folder, name!), events.subarray(0, bytes));
      const watching = start(state, key, ...args);
      const before = counts.at(-1) ?? 0;
      await until("points of the run", async () => {
        const [run] = (await api.get("/runs?project=boards")).json.runs as { id: string }[];
        if (run === undefined) return false;
        const lines = linesOf(await api.get(`/api/export?format=ndjson&run_ids=${run.id}`));
        const count = ofKind(lines, "points").reduce((sum, { columns }) => sum + columns.value.length, 0);
        if (count > before) counts.push(count);
        return count > before;
      });
      watching.child.kill("SIGINT");
      expect(await watching.ended).toMatchObject({ code: 0 });
      const runs = (await api.get("/runs?project=boards")).json.runs as { status: string }[];
      expect(runs.map(({ status }) => status)).not.toContain("running");
    }
  });

  test("stores nothing in a dry run", async () => {
    const { api, key } = await stack().organization();
    const path = join(fixtures, "wandb-0.31.0/data");
    expect(await tidemark(key, "import", path, "--project", "nets", "--dry-run")).toMatchObject({ code: 0 });
    expect((await api.get("/runs")).json.runs).toEqual([]);
  });
});
