import { badRequest } from "@tidemark/errors";
import { firstOf, readName, readObject, readSourceId, readTags } from "../content/read-fields.rules.ts";
import { readArtifact, readAttribute } from "../content/read-items.rules.ts";
import { readTime } from "../content/read-time.rules.ts";
import { readObjects, type ReadDocumentRun } from "./document.rules.ts";

const STATUSES = ["running", "finished", "failed"] as const;

/** Reads a run of POST /api/imports/neptune. @throws bad_request */
export const readNeptuneRun: ReadDocumentRun = (run, _index, sink) => {
  const metadata = readObject(run["metadata"], "metadata");
  const told = firstOf(run, ["id", "neptune_id"]) ?? firstOf(metadata, ["neptune_id"]) ?? firstOf(run, ["name"]);
  if (told === undefined) throw badRequest("id or name is required", "id");
  const name = firstOf(run, ["name"]);
  const tags = readTags(run["tags"], "tags");
  const id = sink.addRun({
    id: readSourceId(told, "id"),
    name: name === undefined ? undefined : readName(name, "name"),
    status: STATUSES.find((status) => status === run["status"]) ?? "finished",
    config: readObject(run["config"], "config"),
    tags: tags.length === 0 ? ["imported", "neptune"] : tags,
    metadata: { neptune: metadata },
    startedUs: readTime(run["started_at"], "started_at"),
    finishedUs: readTime(run["finished_at"], "finished_at"),
  });
  readObjects(run["metrics"], "metrics", ({ key, step, value, timestamp }) =>
    sink.addPoint(id, key, step, value, timestamp),
  );
  readObjects(run["attributes"], "attributes", (item) => sink.builder.addAttribute(id, readAttribute(item)));
  readObjects(run["artifacts"], "artifacts", (item) => sink.builder.addArtifact(id, readArtifact(item, "neptune")));
};
