import { expect, test } from "@jest/globals";
import type { Clients } from "../../../clients.ts";
import { FOLDER_ITEMS_MAX, listArtifactsOfRun } from "./list.ts";

const run_id = "0123456789abcdef0123456789abcdef";

/** Lists a run whose root has this many files. */
async function listOf(count: number): Promise<unknown> {
  const run = { run: { project: "p", projectNumber: 2n } };
  const listFolder = ({ limit, cursor }: { limit: number; cursor: string }) => {
    const from = Number(cursor);
    const length = Math.min(limit, count - from);
    const items = Array.from({ length }, (_, i) => ({ name: `f${from + i}`, sizeBytes: 1n, isFolder: false }));
    return Promise.resolve({ items, nextCursor: length < limit ? "" : String(from + limit) });
  };
  const clients = { runs: { getRun: () => Promise.resolve({ run, hidden: false }) }, artifacts: { listFolder } };
  const [handle, nothing] = [listArtifactsOfRun, undefined as never];
  const { body } = await handle({ body: { run_id } } as never, clients as unknown as Clients, nothing, nothing);
  return (body as { files: unknown[] }).files.length;
}

test("a folder is listed whole, unless it has more items than one answer may have", async () => {
  expect(await listOf(2500)).toBe(2500);
  expect(await listOf(FOLDER_ITEMS_MAX)).toBe(FOLDER_ITEMS_MAX);
  await expect(listOf(FOLDER_ITEMS_MAX + 1)).rejects.toMatchObject({ reason: "bad_request", field: "path" });
});
