import type { SourceArtifact } from "../content/content.rules.ts";
import { hashSourceId } from "../content/named-runs.rules.ts";
import { TEXT_BYTES_MAX } from "../content/read-fields.rules.ts";

const TABLE = /table|\.(?:csv|tsv|parquet)\b/i;

/** Returns the type of the collection that an imported artifact belongs to. */
export function collectionTypeOf({ type, name }: Pick<SourceArtifact, "type" | "name">): string {
  if (type === "checkpoint") return "checkpoint";
  if (type === "rollout") return "media";
  return TABLE.test(name) ? "table" : "file";
}

/** Returns the name of the collection of a run's imported artifacts; of an id that is too long, with its hash. */
export function collectionNameOf(sourceType: string, sourceId: string): string {
  const name = `imported-${sourceType}-${sourceId}-artifacts`;
  if (Buffer.byteLength(name) <= TEXT_BYTES_MAX) return name;
  const short = `imported-${hashSourceId(sourceId).toString("hex")}-artifacts`;
  const typed = `imported-${sourceType}-${hashSourceId(sourceId).toString("hex")}-artifacts`;
  return Buffer.byteLength(typed) <= TEXT_BYTES_MAX ? typed : short;
}

/** Characters that no path of an entry has: control characters (Unicode category Cc). */
// eslint-disable-next-line no-control-regex -- these are the ones that are looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/g;

/** Returns paths of entries after the names of imported artifacts: relative, without empty parts, "." and "..", all different. */
export function entryPathsOf(names: readonly string[]): string[] {
  const taken = new Map<string, number>();
  return names.map((name) => {
    const parts = name.replaceAll("\\", "/").replaceAll(CONTROL, "").split("/");
    const path = parts.filter((part) => part !== "" && part !== "." && part !== "..").join("/") || "artifact";
    for (;;) {
      const count = (taken.get(path) ?? 0) + 1;
      taken.set(path, count);
      const numbered = count === 1 ? path : `${path}#${count}`;
      if (count === 1) return numbered;
      if (!taken.has(numbered)) {
        taken.set(numbered, 1);
        return numbered;
      }
    }
  });
}
