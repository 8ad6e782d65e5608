import { stableId } from "@tidemark/archive";
import type { RunItem } from "@tidemark/import-formats";
import type { Source } from "../source/source.ts";
import { nameOf } from "./texts.ts";

/** Which run of Tidemark a run of a source becomes. */
export type RunIdentity = { readonly id: string; readonly project: string };

/** Returns the project and the id of a run: always the same ones for the same run of a source and the same project. */
export async function runIdentity(source: Source, project: string | undefined, item: RunItem): Promise<RunIdentity> {
  const target = project ?? (nameOf(item.project ?? source.project) || "imported");
  const identity = await source.identify(item);
  return { id: stableId("run", source.kind, item.project ?? "", identity, target), project: target };
}

/** Returns the id of the nth artifact of a run. */
export function artifactId(runId: string, number: number): string {
  return stableId("artifact", runId, String(number));
}
