import { parts } from "../../../api/deletions.ts";

/** The fields of a run that a bulk action needs and restores. */
export type BulkRun = {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
  readonly notes: string | null;
  readonly status: string;
  readonly stale: boolean;
};

/** An action on many runs. */
export type BulkAction =
  | { readonly kind: "add-tag" | "remove-tag"; readonly tag: string }
  | { readonly kind: "notes"; readonly notes: string }
  | { readonly kind: "stop" }
  | { readonly kind: "end" }
  | { readonly kind: "move" | "copy" }
  | { readonly kind: "delete" };

/** Some runs for which the same is set. */
export type BulkStep = {
  readonly ids: readonly string[];
  readonly set: { readonly tags?: readonly string[]; readonly notes?: string; readonly status?: "failed" };
};

/** Runs of one request. */
const TOGETHER = 1000;

/** Returns the runs that an action would change: a run that has a tag gets it no second time, and what ended cannot be stopped. */
export function changedBy(action: BulkAction, runs: readonly BulkRun[]): readonly BulkRun[] {
  switch (action.kind) {
    case "add-tag":
      return runs.filter(({ tags }) => !tags.includes(action.tag));
    case "remove-tag":
      return runs.filter(({ tags }) => tags.includes(action.tag));
    case "notes":
      return runs.filter(({ notes }) => (notes ?? "") !== action.notes);
    case "stop":
      return runs.filter(({ status }) => status === "running");
    case "end":
      return runs.filter(({ status, stale }) => status === "running" && stale);
    case "move":
    case "copy":
    case "delete":
      return runs;
  }
}

/** Returns what to send for an action that changes fields: runs that get the same go together. */
export function stepsOf(action: BulkAction, runs: readonly BulkRun[]): readonly BulkStep[] {
  const setOf = ({ tags }: BulkRun): BulkStep["set"] => {
    if (action.kind === "add-tag") return { tags: [...tags, action.tag] };
    if (action.kind === "remove-tag") return { tags: tags.filter((tag) => tag !== action.tag) };
    return action.kind === "notes" ? { notes: action.notes } : { status: "failed" };
  };
  return together(runs, setOf);
}

/** Returns the steps that restore tags or notes. */
export function undoStepsOf(action: BulkAction, runs: readonly BulkRun[]): readonly BulkStep[] {
  return together(runs, ({ tags, notes }) => (action.kind === "notes" ? { notes: notes ?? "" } : { tags }));
}

function together(runs: readonly BulkRun[], setOf: (run: BulkRun) => BulkStep["set"]): BulkStep[] {
  const groups = new Map<string, { ids: string[]; set: BulkStep["set"] }>();
  for (const run of runs) {
    const set = setOf(run);
    const name = JSON.stringify(set);
    const group = groups.get(name) ?? { ids: [], set };
    group.ids.push(run.id);
    groups.set(name, group);
  }
  return [...groups.values()].flatMap(({ ids, set }) => parts(ids, TOGETHER).map((some) => ({ ids: some, set })));
}
