import { expect } from "@jest/globals";
import type { callAs, RunsFixture } from "../runs.fixture.ts";

/** The call of an organization. */
export type TestCall = ReturnType<typeof callAs>;

/** The filter of a list. */
export type Filter = { project?: string; projectId?: string; status?: string; displayStatus?: string; q?: string };

/** A page of a list. */
export type Request = Filter & {
  sort?: string;
  metricKey?: string;
  limit?: number;
  offset?: number;
  cursor?: string;
  selection?: boolean;
};

/** The metric to sort by unless a test names another one. */
export const SCORE = "eval/score";

/** Returns the message of a filter. */
export function filterOf({ project, projectId, status, displayStatus, q = "" }: Filter) {
  return {
    q,
    ...(project === undefined ? {} : { project }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(status === undefined ? {} : { status }),
    ...(displayStatus === undefined ? {} : { displayStatus }),
  };
}

/** Reads a page and its ids. */
export async function summarize({ client }: Pick<RunsFixture, "client">, call: TestCall, request: Request = {}) {
  const { sort = "created", metricKey = SCORE, limit = 100, offset = 0, cursor = "", selection = false } = request;
  const order = { sortBy: sort, metricKey };
  const page = await client.summarizeRuns(
    { filter: filterOf(request), order, limit, offset: BigInt(offset), cursor, selection },
    call,
  );
  return { ...page, total: Number(page.total), ids: page.runs.map(({ run }) => run?.id ?? "") };
}

/** Reads all pages of a list in order, each with its ids and total; `between` runs after each page but the last. */
export async function readAll(
  fixture: Pick<RunsFixture, "client">,
  call: TestCall,
  request: Request,
  between: (page: number) => Promise<void> = async () => {},
): Promise<{ ids: string[]; total: number }[]> {
  const pages: { ids: string[]; total: number }[] = [];
  for (let cursor = ""; ;) {
    const { ids, total, nextCursor } = await summarize(fixture, call, { ...request, cursor });
    pages.push({ ids, total });
    if (nextCursor === "") return pages;
    if (pages.length > 200) throw new Error("the list does not end");
    await between(pages.length);
    cursor = nextCursor;
  }
}

/** Returns the sorted names of the runs that a search finds. */
export async function found(
  fixture: Pick<RunsFixture, "client">,
  call: TestCall,
  q: string,
  request: Request = {},
): Promise<string[]> {
  const { runs, total } = await summarize(fixture, call, { ...request, q });
  const names = runs.map(({ run }) => run?.name ?? "");
  expect(total).toBe(names.length);
  return names.toSorted();
}
