import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { asOwner, callAs, failure, json, makeRun, startRuns, type RunsFixture } from "../runs.fixture.ts";
import { filterOf } from "../list/list-pages.fixture.ts";
import { whileTextsAreLocked } from "../search/locked-texts.fixture.ts";
import type { RegexSearch } from "./find-runs.ts";
import { createSearchThreads, type SearchThreads } from "./search-threads.ts";

let fixture: RunsFixture;
beforeAll(async () => {
  fixture = await startRuns();
});
afterAll(() => fixture.close());

const opened: SearchThreads[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});

function openThreads(threads: number, searchMsMax?: number, role = "tidemark_runs"): SearchThreads {
  const made = createSearchThreads({
    connection: { url: fixture.url, role, application: "test-threads" },
    threads,
    ...(searchMsMax === undefined ? {} : { searchMsMax }),
  });
  opened.push(made);
  return made;
}

const searchOf = ({ orgId }: { readonly orgId: string }, q = "re:/./"): RegexSearch => ({
  orgId,
  projectId: undefined,
  status: undefined,
  displayStatus: undefined,
  q,
});

/** A caller with one run. */
async function withRun(name = "run"): Promise<ReturnType<typeof callAs>> {
  const call = callAs();
  await makeRun(fixture.client, call, { name });
  return call;
}

describe("searches", () => {
  test("are each answered with their own runs, on any thread", async () => {
    const call = callAs();
    const ids = new Map<string, string>();
    for (let n = 10; n < 30; n += 1) {
      const { id } = await makeRun(fixture.client, call, { name: `run-${n}` });
      ids.set(`name:re:/^run-${n}$/`, id);
    }
    const threads = openThreads(3);
    const found = await Promise.all([...ids.keys()].map((q) => threads.find(searchOf(call, q))));
    expect(found).toEqual([...ids.values()].map((id) => [id]));
  });

  test("of one organization take turns with those of others", async () => {
    const callers = { A: await withRun(), B: await withRun(), C: await withRun() };
    const threads = openThreads(1);
    const done: string[] = [];
    const find = async (name: string): Promise<void> => {
      await threads.find(searchOf(callers[name.charAt(0) as "A"]));
      done.push(name);
    };
    await whileTextsAreLocked(fixture, async (release) => {
      const finding = ["A1", "A2", "A3", "A4", "B1", "B2", "C1"].map(find);
      release();
      await Promise.all(finding);
    });
    expect(done).toEqual(["A1", "B1", "C1", "A2", "B2", "A3", "A4"]);
  });

  test("of one organization leave one of several threads to others", async () => {
    const noisy = await withRun();
    const quiet = await withRun();
    const threads = openThreads(2, 1500);
    await whileTextsAreLocked(fixture, async () => {
      const started = performance.now();
      const own = [1, 2].map(() => failure(threads.find(searchOf(noisy))));
      // It begins immediately, and so ends as too broad and not as one that had no turn, or had it after another one.
      expect(await failure(threads.find(searchOf(quiet)))).toMatchObject({ reason: "run_search_too_broad" });
      expect(performance.now() - started).toBeLessThan(2700);
      expect(await own[0]).toMatchObject({ reason: "run_search_too_broad" });
      await own[1];
    });
  });

  test("that have no turn in time are 503, and those before them 400", async () => {
    const call = await withRun();
    const threads = openThreads(1, 400);
    await whileTextsAreLocked(fixture, async () => {
      const [first, second, third] = await Promise.all([1, 2, 3].map(() => failure(threads.find(searchOf(call)))));
      expect(first).toMatchObject({ reason: "run_search_too_broad", field: "q" });
      // It began when the first one ended.
      expect(second).toMatchObject({ reason: "run_search_too_broad", field: "q" });
      expect(third).toMatchObject({ reason: "service_unavailable", retryAfterSeconds: 1 });
    });
  });
});

describe("a thread", () => {
  test("that cannot even start fails its search, and the next has another one", async () => {
    const call = await withRun();
    const threads = openThreads(1, undefined, "no role");
    const faults = await Promise.all([1, 2].map(() => failure(threads.find(searchOf(call)))));
    expect(faults.map(({ message }) => message)).toEqual(Array(2).fill("not a role name: no role"));
  });

  test("whose database is gone says that it is", async () => {
    const call = callAs();
    const threads = createSearchThreads({
      connection: { url: "postgres://nobody@127.0.0.1:1/none", role: "tidemark_runs", application: "test" },
      threads: 1,
    });
    opened.push(threads);
    expect(await failure(threads.find(searchOf(call)))).toMatchObject({
      reason: "warehouse_unavailable",
      retryAfterSeconds: 1,
    });
  });

  test("gives back the faults of a query with their column", async () => {
    const threads = openThreads(1);
    expect(await failure(threads.find(searchOf(callAs(), "otter re:/(/")))).toMatchObject({
      name: "AppError",
      reason: "run_search_invalid",
      field: "q",
      position: 7,
    });
  });

  test("that is closed rejects running, waiting and later searches", async () => {
    const call = await withRun();
    const threads = openThreads(1);
    await whileTextsAreLocked(fixture, async () => {
      const faults = [1, 2].map(() => failure(threads.find(searchOf(call))));
      await threads.close();
      expect((await Promise.all(faults)).map(({ message }) => message)).toEqual([
        "a thread ended",
        "the threads were closed",
      ]);
      expect(await failure(threads.find(searchOf(call)))).toMatchObject({ message: "the threads are closed" });
    });
  });
});

describe("a search whose engine does not return", () => {
  const call = callAs();
  // Each of these has up to 1,000 begins to follow at every character: near half a second of work for each text.
  const endless = ["a", "b", "[ab]c?", "c?[ab]"].map((begin) => `config:re:/[ab]*${begin}[ab]{999}[0-9]/`).join(" OR ");

  beforeAll(async () => {
    let state = 1;
    const letters = Array.from({ length: 32_000 }, () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state < 2 ** 31 ? "a" : "b";
    });
    const configJson = json(JSON.stringify({ letters: letters.join("") }));
    for (let n = 0; n < 20; n += 1) await makeRun(fixture.client, call, { name: `run ${n}`, configJson });
  });

  test("ends as 400 in the middle of it, and the search behind it is answered by a new thread", async () => {
    // A new thread takes a second to start on a busy machine.
    const threads = openThreads(1, 3000);
    const other = await withRun("other");
    const searching = failure(threads.find(searchOf(call, endless)));
    const behind = threads.find(searchOf(other));
    expect(await searching).toMatchObject({ reason: "run_search_too_broad", field: "q" });
    expect(await behind).toHaveLength(1);
  });
});

describe("a search that keeps its thread busy", () => {
  const call = callAs();
  // Over 120 MiB of text that all needs new states: seconds of work on any machine.
  const slow = ["[0-7].{60}x", "[1-8].{59}x", "[2-9].{58}x", "[a-d].{57}x"]
    .map((pattern) => `config:re:/${pattern}/`)
    .join(" OR ");

  beforeAll(async () => {
    const { projectId } = await makeRun(fixture.client, call, { name: "first" });
    await asOwner(fixture, "DROP INDEX runs.run_texts_words");
    await asOwner(
      fixture,
      `INSERT INTO runs.run_texts (org_id, run_id, project_id, created_at, status, display_status, irregular, name, tags,
                                   notes, summary, config, metadata)
       SELECT $1, md5(n::text)::uuid, $2, now(), 'running', 'running', true, 'n', '{}', '', 's',
              repeat(md5(n::text), 1024), '{}'
       FROM generate_series(1, 3840) n`,
      [call.orgId, projectId],
    );
  });

  test("ends as 400, holds up nothing meanwhile, and leaves a thread that works", async () => {
    const threads = openThreads(1, 2500);
    const other = await withRun("other");
    /** Counts how many lists are answered, one after another, while `lasts` returns true. */
    const answersDuring = async (lasts: () => boolean): Promise<number> => {
      let answers = 0;
      while (lasts()) {
        const { runs } = await fixture.client.listRuns(
          { filter: filterOf({ q: "other" }), order: { sortBy: "name", metricKey: "k" }, limit: 10 },
          other,
        );
        expect(runs).toHaveLength(1);
        answers += 1;
      }
      return answers;
    };
    let ended = false;
    const startedMs = performance.now();
    const searching = failure(threads.find(searchOf(call, slow))).finally(() => (ended = true));
    const beside = await answersDuring(() => !ended);
    const endedMs = performance.now();
    expect(await searching).toMatchObject({ reason: "run_search_too_broad", field: "q" });
    const alone = await answersDuring(() => performance.now() < endedMs + (endedMs - startedMs));
    // If the work ran in the thread of the requests, they would have waited for texts of many megabytes each, a hundred times as long.
    expect(beside).toBeGreaterThan(alone / 10);
    expect(await threads.find(searchOf(other))).toHaveLength(1);
  });
});
