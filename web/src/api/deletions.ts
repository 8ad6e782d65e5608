import { call } from "./client.ts";

/** Requests that run together. */
const TOGETHER = 4;

/** Cuts a list into parts of at most `size`. */
export function parts<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));
}

/** Ids of things for which an action worked, and why it failed for the first of the others. */
export type Worked = { readonly ids: readonly string[]; readonly fault: unknown };

/** Deletes runs or projects, or restores deleted ones, a few at a time. `progress` gets how many are done. Never fails. */
export async function deleteOrRestore(
  kind: "runs" | "projects",
  ids: readonly string[],
  action: "delete" | "restore",
  progress: (done: number) => void = () => undefined,
): Promise<Worked> {
  const worked: string[] = [];
  const faults: unknown[] = [];
  let done = 0;
  for (const some of parts(ids, TOGETHER)) {
    const path = (id: string): string => `/${kind}/${encodeURIComponent(id)}${action === "restore" ? "/restore" : ""}`;
    const method = action === "delete" ? "DELETE" : "POST";
    const results = await Promise.allSettled(some.map((id) => call(path(id), { method })));
    results.forEach((result, i) => {
      if (result.status === "fulfilled") worked.push(some[i]!);
      else faults.push(result.reason);
    });
    progress((done += some.length));
  }
  return { ids: worked, fault: faults[0] };
}
