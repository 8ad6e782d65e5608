import { expect } from "@jest/globals";
import type { callAs, RunsFixture } from "../runs.fixture.ts";

/** Somebody who asks. */
export type Caller = ReturnType<typeof callAs>;

/** Which runs to ask for. */
export type Filter = { project?: string; projectId?: string; status?: string; displayStatus?: string; q?: string };

/** Which page of them. */
export type Request = Filter & {
  sort?: string;
  metricKey?: string;
  limit?: number;
  offset?: number;
  cursor?: string;
  selection?: boolean;
};

/** The metric that lists are sorted by unless another one is named. */
export const SCORE = "eval/score";

/** The filter as its message. */
export function filterOf({ project, projectId, status, displayStatus, q = "" }: Filter) {
  return {
    q,
    ...(project === undefined ? {} : { project }),
    ...(projectId === undefined ? {} : { projectId }),
    ...(status === undefined ? {} : { status }),
    ...(displayStatus === undefined ? {} : { displayStatus }),
  };
}

/** A page with its ids. */
export async function summarize({ client }: Pick<RunsFixture, "client">, call: Caller, request: Request = {}) {
  const { sort = "created", metricKey = SCORE, limit = 100, offset = 0, cursor = "", selection = false } = request;
  const order = { sortBy: sort, metricKey };
  const page = await client.summarizeRuns(
    { filter: filterOf(request), order, limit, offset: BigInt(offset), cursor, selection },
    call,
  );
  return { ...page, total: Number(page.total), ids: page.runs.map(({ run }) => run?.id ?? "") };
}

/** All pages of a list, one after the other, each with its ids and the total that it says; `between` runs after each page but the last. */
export async function readAll(
  fixture: Pick<RunsFixture, "client">,
  call: Caller,
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

/** The names of the runs that a search finds, sorted. */
export async function found(
  fixture: Pick<RunsFixture, "client">,
  call: Caller,
  q: string,
  request: Request = {},
): Promise<string[]> {
  const { runs, total } = await summarize(fixture, call, { ...request, q });
  const names = runs.map(({ run }) => run?.name ?? "");
  expect(total).toBe(names.length);
  return names.toSorted();
}
