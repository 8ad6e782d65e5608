import { badRequest } from "@tidemark/errors";
import { firstOf, numberOf, readName, readObject, readSourceId, readTags } from "../content/read-fields.rules.ts";
import { readArtifact, statusOf } from "../content/read-items.rules.ts";
import { readTime } from "../content/read-time.rules.ts";
import { readObjects, type ReadDocumentRun } from "./document.rules.ts";

/** Reads a run of POST /api/imports/wandb. @throws bad_request */
export const readWandbRun: ReadDocumentRun = (run, index, sink) => {
  const name = firstOf(run, ["name", "id"]);
  const summary = readObject(run["summary"], "summary");
  const id = sink.addRun({
    id: readSourceId(firstOf(run, ["id", "run_id", "name"]) ?? `run-${index + 1}`, "id"),
    name: typeof name === "string" ? readName(name, "name") : undefined,
    status: statusOf(firstOf(run, ["state", "status"])),
    config: readObject(run["config"], "config"),
    tags: readTags(run["tags"], "tags"),
    metadata: { ...readObject(run["metadata"], "metadata"), wandb: { summary } },
    startedUs: readTime(firstOf(run, ["started_at", "created_at"]), "started_at"),
    finishedUs: readTime(firstOf(run, ["finished_at"]), "finished_at"),
  });
  let row = 0;
  readObjects(run["history"], "history", (point) => {
    const step = point["_step"] ?? row;
    row += 1;
    if ((numberOf(step) ?? -1) < 0) throw badRequest("_step must be a finite number from 0", "_step");
    for (const [key, value] of Object.entries(point)) {
      if (key.startsWith("_") || numberOf(value) === undefined) continue;
      sink.addPoint(id, key, step, value, point["_timestamp"]);
    }
  });
  readObjects(run["artifacts"], "artifacts", (item) => sink.builder.addArtifact(id, readArtifact(item, "wandb")));
};
