import { AppError, badRequest, notFound } from "@tidemark/errors";
import { object, withDefault } from "../../../api/fields/field.ts";
import { requireMessage } from "../../../api/replies.ts";
import type { Route, RouteInput, RouteReply } from "../../../route.ts";
import { jsonBytes } from "../documents.ts";
import { anyText, experimentTag, key, messages, requireName, textOrNone } from "../fields.ts";
import { DEFAULT_EXPERIMENT, experimentIdOf } from "../ids.ts";
import { MLFLOW_LIMITS } from "../limits.ts";
import { longNote, NOTE_TAG, shortNote } from "../notes.ts";
import { mlflowRoute, type MlflowRoute } from "../route.ts";
import { defaultExperimentJson, experimentJson, experimentMetadataOf } from "./experiment.ts";
import { searchExperiments } from "./search.ts";
import { experimentToWrite, findByName, findExperiment } from "./find.ts";

const done: RouteReply = { body: {} };

const createFields = object({
  name: withDefault(anyText(), ""),
  artifact_location: textOrNone(),
  tags: messages(MLFLOW_LIMITS.batch.tags, experimentTag.read),
});

function requireExperimentName(value: string | undefined, field: string): string {
  const name = requireName(value, field);
  if (Array.from(name).length <= MLFLOW_LIMITS.experimentNameCharacters) return name;
  throw badRequest(`${field} must have at most ${MLFLOW_LIMITS.experimentNameCharacters} characters`, field);
}

/** Returns what a project keeps of tags: the note is its description, the others are metadata. A value of null removes. */
function changesOf(tags: ReadonlyMap<string, string | null>) {
  const others = Object.fromEntries([...tags].filter(([name]) => name !== NOTE_TAG));
  const note = tags.get(NOTE_TAG);
  return {
    ...(note === undefined ? {} : { description: shortNote(note ?? "") }),
    mlflow: { tags: others, ...(note === undefined ? {} : { note: longNote(note ?? "") }) },
  };
}

const createExperiment: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { name: sent, artifactLocation, tags } = createFields.read(body);
  const name = requireExperimentName(sent, "name");
  // It always exists, although perhaps nothing was written to it.
  if (name === DEFAULT_EXPERIMENT.name) throw new AppError("conflict", "the experiment Default exists");
  if (artifactLocation?.startsWith("mlflow-artifacts:") === true)
    throw badRequest("artifact_location must not be one of this server", "artifact_location");
  const { description, mlflow } = changesOf(new Map(tags.map((tag) => [tag.key, tag.value])));
  const metadata = {
    mlflow: {
      ...withoutNulls(mlflow),
      ...(artifactLocation === undefined ? {} : { artifact_location: artifactLocation }),
    },
  };
  const { project } = await clients.runs.createProject(
    {
      name,
      mustBeNew: true,
      metadataJson: jsonBytes(metadata),
      ...(description === undefined || description === "" ? {} : { description }),
    },
    call,
  );
  const { name: stored, number } = requireMessage(project);
  return { body: { experiment_id: experimentIdOf(stored, number) } };
};

function withoutNulls<T extends object>(from: T): Partial<T> {
  return Object.fromEntries(Object.entries(from).filter(([, value]) => value !== null)) as Partial<T>;
}

const getExperiment: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const found = await findExperiment(clients, body["experiment_id"], call);
  return { body: { experiment: found === undefined ? defaultExperimentJson : experimentJson(found) } };
};

const getByName: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const name = requireName(anyText().check(body["experiment_name"] ?? "", "experiment_name"), "experiment_name");
  const found = await findByName(clients, name, call);
  if (found === undefined && name !== DEFAULT_EXPERIMENT.name) throw notFound("experiment");
  return { body: { experiment: found === undefined ? defaultExperimentJson : experimentJson(found) } };
};

const updateExperiment: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const newName = textOrNone().check(body["new_name"] ?? "", "new_name");
  const name = newName === undefined ? undefined : requireExperimentName(newName, "new_name");
  const { id } = await experimentToWrite(clients, body["experiment_id"], call);
  if (name !== undefined) await clients.runs.updateProject({ projectId: id, name }, call);
  return done;
};

const setTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const { key: name, value } = experimentTag.read(body);
  const { id } = await experimentToWrite(clients, body["experiment_id"], call);
  const { mlflow, ...rest } = changesOf(new Map([[name, value]]));
  await clients.runs.updateProject({ projectId: id, metadataPatchJson: jsonBytes({ mlflow }), ...rest }, call);
  return done;
};

const deleteTag: MlflowRoute["handle"] = async ({ body }, clients, call) => {
  const name = key.check(body["key"] ?? "", "key");
  const project = await experimentToWrite(clients, body["experiment_id"], call);
  if (!experimentMetadataOf(project).tags.has(name)) throw notFound("tag");
  const { mlflow, ...rest } = changesOf(new Map([[name, null]]));
  await clients.runs.updateProject({ projectId: project.id, metadataPatchJson: jsonBytes({ mlflow }), ...rest }, call);
  return done;
};

/** Deleting and restoring projects is for keys of the whole organization. @throws forbidden */
function requireWholeOrganization({ identity }: RouteInput): void {
  if (identity?.projectId !== "") throw new AppError("forbidden", "a project-scoped key cannot change experiments");
}

const deleteExperiment: MlflowRoute["handle"] = async (input, clients, call) => {
  requireWholeOrganization(input);
  const project = await findExperiment(clients, input.body["experiment_id"], call);
  if (project === undefined || project.deletion !== undefined) throw notFound("active experiment");
  await clients.runs.deleteProject({ projectId: project.id }, call);
  return done;
};

const restoreExperiment: MlflowRoute["handle"] = async (input, clients, call) => {
  requireWholeOrganization(input);
  const project = await findExperiment(clients, input.body["experiment_id"], call);
  if (project?.deletion === undefined) throw notFound("deleted experiment");
  await clients.runs.undeleteProject({ projectId: project.id }, call);
  return done;
};

const PREFIX = "/api/2.0/mlflow/experiments";

/** Experiments, which are projects. */
export const experimentRoutes: readonly Route[] = [
  mlflowRoute({ method: "POST", path: `${PREFIX}/create`, use: "write", handle: createExperiment }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get`, use: "read", handle: getExperiment }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/get-by-name`, use: "read", handle: getByName }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/search`, use: "read", handle: searchExperiments }),
  mlflowRoute({ method: "GET", path: `${PREFIX}/search`, use: "read", handle: searchExperiments }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/update`, use: "write", handle: updateExperiment }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/set-experiment-tag`, use: "write", handle: setTag }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/delete-experiment-tag`, use: "write", handle: deleteTag }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/delete`, use: "control", handle: deleteExperiment }),
  mlflowRoute({ method: "POST", path: `${PREFIX}/restore`, use: "control", handle: restoreExperiment }),
];
