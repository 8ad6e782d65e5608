import type { ExactObject } from "@tidemark/documents";
import { badRequest } from "@tidemark/errors";
import type { Run } from "@tidemark/proto/runs/v1/runs";
import { memberObject, textOf } from "../documents.ts";
import { requireName } from "../fields.ts";
import { longNote, NOTE_TAG, noteOf, shortNote } from "../notes.ts";

/** The tag that is the name of a run. */
export const NAME_TAG = "mlflow.runName";

/** Tags that have a place of their own in the metadata, as imports of runs of MLflow have them. */
const places: Readonly<Record<string, string>> = { "mlflow.parentRunId": "parent_run_id", "mlflow.user": "user" };

/** Returns the member of `metadata.mlflow` that has a tag; undefined: it is among the other tags. */
export function placeOfTag(key: string): string | undefined {
  return Object.hasOwn(places, key) ? places[key] : undefined;
}

/** What tags change of a run. */
export type TagChanges = {
  readonly name?: string;
  /** At most 512 bytes; empty: none. */
  readonly notes?: string;
  /** Where the note is longer. */
  readonly readme?: string;
  /** Members of `metadata.mlflow`; null removes one. */
  readonly mlflow: Readonly<Record<string, unknown>>;
};

/** Returns what tags change of a run; null removes one. @throws bad_request for an empty name or one of more than 512 bytes */
export function tagChanges(tags: ReadonlyMap<string, string | null>): TagChanges {
  const others = new Map<string, string | null>();
  const mlflow: Record<string, unknown> = {};
  let changes: Omit<TagChanges, "mlflow"> = {};
  for (const [key, value] of tags) {
    const place = placeOfTag(key);
    if (place !== undefined) mlflow[place] = value;
    else if (key === NOTE_TAG) {
      const note = value ?? "";
      const long = longNote(note);
      mlflow["note"] = long;
      changes = { ...changes, notes: shortNote(note), ...(long === null ? {} : { readme: long }) };
    } else if (key !== NAME_TAG) others.set(key, value);
    // A run always has a name.
    else if (value !== null) changes = { ...changes, name: requireName(value, NAME_TAG) };
  }
  if (others.size > 0) mlflow["tags"] = Object.fromEntries(others);
  return { ...changes, mlflow };
}

/** Returns the name of a new run; undefined: the server makes one. @throws bad_request when field and tag differ */
export function nameOfNew(name: string | undefined, tags: ReadonlyMap<string, string>): string | undefined {
  const tag = tags.get(NAME_TAG);
  if (name !== undefined && tag !== undefined && tag !== "" && tag !== name)
    throw badRequest(`run_name and the tag ${NAME_TAG} are different`, "run_name");
  const given = name ?? (tag === "" ? undefined : tag);
  return given === undefined ? undefined : requireName(given, "run_name");
}

/** Returns the tags of a run. `mlflow` is the member of its metadata. */
export function tagsOf({ name, notes }: Pick<Run, "name" | "notes">, mlflow: ExactObject): Map<string, string> {
  const tags = new Map(Object.entries(memberObject(mlflow, "tags")).map(([key, value]) => [key, textOf(value)]));
  for (const [key, place] of Object.entries(places)) {
    const value = mlflow[place];
    if (typeof value === "string") tags.set(key, value);
  }
  const note = noteOf(notes, mlflow["note"]);
  if (note !== undefined) tags.set(NOTE_TAG, note);
  tags.set(NAME_TAG, name);
  return tags;
}
