import { expect, test } from "@jest/globals";
import { until } from "@tidemark/testkit";
import type { Api } from "../stack/client.ts";
import { killUnderLoad } from "../stack/kill-compactor.ts";
import { describeOwnModes } from "../stack/modes.ts";
import { queryDatabase } from "../stack/attach.ts";

type Point = { step: number; value: number };

const POINTS = 20;
const WRITERS = 4;
/** Steps at which all writers log the shared key, again and again. */
const SHARED_STEPS = 10;

/** Returns all points of a key, read in pages of steps; undefined while the reading service is down. */
async function readAll(api: Api, path: string, key: string): Promise<Point[] | undefined> {
  const points: Point[] = [];
  for (let from = 0; ;) {
    const query = `?key=${encodeURIComponent(key)}&start_step=${from}&limit=5000`;
    const page = await api.get(`${path}${query}`).catch(() => undefined);
    if (page === undefined || page.status === 503) return undefined;
    expect(page.status).toBe(200);
    points.push(...(page.json.metrics as Point[]));
    if (page.json.truncated !== true) return points;
    // A step may continue in the next page: it is read again as a whole.
    from = points.at(-1)!.step;
    while (points.at(-1)?.step === from) points.pop();
  }
}

const texts = (points: readonly Point[]): string[] => points.map(({ step, value }) => `${step} ${value}`);

describeOwnModes(
  "compaction of metrics",
  (stack) => {
    test("whose process is killed again and again under load loses no point, doubles none, and keeps their order", async () => {
      const { api } = await stack().organization();
      const { id } = (await api.post("/runs", {})).json.run;
      const path = `/runs/${id}/metrics`;
      const model = Array.from({ length: WRITERS }, (): Point[] => []);
      const shared: Point[] = [];

      const write = async (writer: number, request: number): Promise<void> => {
        const own = Array.from({ length: POINTS }, (_, i) => {
          const step = request * POINTS + i;
          return { step, value: writer * 1e6 + step + 0.1 };
        });
        const together = { step: request % SHARED_STEPS, value: writer * 1e6 + request };
        const points = [
          ...own.map(({ step, value }) => ({ metrics: { [`own/${writer}`]: value, constant: 1 }, step })),
          { metrics: { shared: together.value }, step: together.step },
        ];
        await until(`request ${request} of writer ${writer}`, async () => {
          const options = { headers: { "idempotency-key": `w${writer}-${request}` } };
          const answer = await api.post(`${path}/batch`, { points }, options).catch(() => undefined);
          if (answer !== undefined && answer.status !== 200) expect(answer.status).toBe(503);
          return answer?.status === 200;
        });
        model[writer]!.push(...own);
        shared.push(together);
      };
      const read = async (): Promise<void> => {
        for (let writer = 0; writer < WRITERS; writer += 1) {
          const before = [...model[writer]!];
          const seen = await readAll(api, path, `own/${writer}`);
          if (seen === undefined) continue;
          // Steps that are not acknowledged yet can only follow.
          expect(texts(seen).slice(0, before.length)).toEqual(texts(before));
          expect(seen.map(({ step }) => step)).toEqual(seen.map((_, step) => step));
        }
        const before = texts(shared);
        const seen = await readAll(api, path, "shared");
        if (seen === undefined) return;
        const distinct = new Set(texts(seen));
        expect(seen.length).toBe(distinct.size);
        expect(before.filter((point) => !distinct.has(point))).toEqual([]);
      };

      const acknowledged = () => model.reduce((sum, points) => sum + points.length, 0);
      await killUnderLoad(stack(), "metric_blocks", {
        writers: WRITERS,
        write,
        read,
        acknowledged,
        apart: 70 * POINTS,
      });

      const check = async (): Promise<void> => {
        for (let writer = 0; writer < WRITERS; writer += 1)
          expect(texts((await readAll(api, path, `own/${writer}`))!)).toEqual(texts(model[writer]!));
        const seen = (await readAll(api, path, "shared"))!;
        expect(texts(seen).toSorted()).toEqual(texts(shared).toSorted());
        expect(seen.map(({ step }) => step)).toEqual(seen.map(({ step }) => step).toSorted((a, b) => a - b));
        const aggregates = (await api.get(`/runs/${id}`)).json.run.metric_aggregates;
        expect(aggregates.constant).toMatchObject({ count: acknowledged(), min: 1, max: 1 });
        expect(aggregates.shared).toMatchObject({ count: shared.length });
        const { overview } = (await api.get("/api/overview")).json;
        expect(overview).toMatchObject({ metric_points: 2 * acknowledged() + shared.length });
      };
      await check();
      // Everything is in blocks after a while.
      await until("the last landing segment to be compacted", async () => {
        const [row] = await queryDatabase<{ waiting: boolean; values: string }>(
          stack(),
          `SELECT EXISTS (SELECT FROM ingest.metric_segments) AS waiting,
                    (SELECT sum(value_count) FROM ingest.metric_blocks) AS values`,
        );
        return !row!.waiting && Number(row!.values) === 2 * acknowledged() + shared.length;
      });
      await check();
      expect(await stack().metricsText("ingest")).toMatch(
        /tidemark_compaction_rows_total\{kind="metrics",service="[a-z]+"\} [1-9]/,
      );
    });
  },
  { settings: { TIDEMARK_INGEST_COMPACT_AFTER_SECONDS: "1" } },
);
