import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { killUnderLoad } from "../stack/kill-compactor.ts";
import { describeOwnModes } from "../stack/modes.ts";
import { queryDatabase } from "../stack/attach.ts";

type Line = { line_number: number; message: string };

const LINES = 40;
const WRITERS = 4;

/** Returns all lines, read in pages; undefined while the reading service is down. */
async function readAll(api: Api, path: string): Promise<string[] | undefined> {
  const messages: string[] = [];
  for (let cursor = ""; ;) {
    const page = await api.get(`${path}?limit=900${cursor === "" ? "" : `&cursor=${cursor}`}`).catch(() => undefined);
    if (page === undefined || page.status === 503) return undefined;
    expect(page.status).toBe(200);
    messages.push(...(page.json.lines as Line[]).map(({ message }) => message));
    cursor = (page.json.next_cursor as string | null) ?? "";
    if (cursor === "") return messages;
  }
}

describeOwnModes(
  "compaction of console logs",
  (stack) => {
    test("whose process is killed again and again under load neither loses nor duplicates a line", async () => {
      const { api } = await stack().organization();
      const { id } = (await api.post("/runs", {})).json.run;
      const path = `/api/runs/${id}/logs`;
      const acknowledged = new Set<string>();

      const write = async (writer: number, request: number): Promise<void> => {
        // Each writer numbers its lines from 1, as processes that share a run do.
        const lines = Array.from({ length: LINES }, (_, i) => ({
          line_number: request * LINES + i + 1,
          message: `${writer}/${request * LINES + i + 1} ${"step ".repeat(20 + (i % 7))}`,
        }));
        await until(`request ${request} of writer ${writer}`, async () => {
          const options = { headers: { "idempotency-key": `w${writer}-${request}` } };
          const answer = await api.post(path, { lines }, options).catch(() => undefined);
          if (answer !== undefined && answer.status !== 200) expect(answer.status).toBe(503);
          return answer?.status === 200;
        });
        for (const { message } of lines) acknowledged.add(message);
      };
      const read = async (): Promise<void> => {
        const before = [...acknowledged];
        const seen = await readAll(api, path);
        if (seen === undefined) return;
        const distinct = new Set(seen);
        expect(seen.length).toBe(distinct.size);
        expect(before.filter((message) => !distinct.has(message))).toEqual([]);
      };
      await killUnderLoad(stack(), "log_blocks", {
        writers: WRITERS,
        write,
        read,
        acknowledged: () => acknowledged.size,
        apart: 20 * LINES,
      });

      const wanted = [...acknowledged].sort();
      expect((await readAll(api, path))!.toSorted()).toEqual(wanted);
      // Everything is in blocks after a while.
      await until("the last landing segment to be compacted", async () => {
        const [row] = await queryDatabase<{ waiting: boolean; lines: string }>(
          stack(),
          `SELECT EXISTS (SELECT FROM ingest.log_segments) AS waiting,
                    (SELECT sum(lines) FROM ingest.log_blocks) AS lines`,
        );
        return !row!.waiting && Number(row!.lines) === wanted.length;
      });
      expect((await readAll(api, path))!.toSorted()).toEqual(wanted);
      const last = (await api.get(`${path}?tail=3`)).json.lines as Line[];
      const lineNumbers = wanted.map((message) => Number(message.split(/[/ ]/)[1])).sort((a, b) => a - b);
      expect(last.map(({ line_number }) => line_number)).toEqual(lineNumbers.slice(-3));
      const found = (await api.get(`${path}?q=${encodeURIComponent("3/1 STEP")}`)).json.lines as Line[];
      expect(found.map(({ message }) => message)).toEqual(wanted.filter((message) => message.startsWith("3/1 ")));
      expect(await stack().metricsText("ingest")).toMatch(
        /tidemark_compaction_rows_total\{kind="logs",service="[a-z]+"\} [1-9]/,
      );
    });
  },
  { settings: { TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: "1" } },
);
