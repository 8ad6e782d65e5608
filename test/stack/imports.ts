import type { Answer, Api } from "./client.ts";

/** The parts that a chunk may hold. */
export type ChunkParts = {
  readonly runs?: readonly object[];
  readonly metric_points?: readonly object[];
  readonly attributes?: readonly object[];
  readonly artifact_refs?: readonly object[];
  readonly warnings?: readonly object[];
};

/** A job of imports under test. */
export type TestJob = {
  readonly id: number;
  readonly path: string;
  /** The members of the next chunk other than its parts. */
  head(): object;
  /** Sends the next chunk. `more` replaces fields of the body. */
  put(parts: ChunkParts, more?: object): Promise<Answer>;
  commit(): Promise<Answer>;
};

/** Begins a job. */
export async function createImport(
  api: Api,
  { source = "wandb", project = "imported", sourceProject = "team/old" } = {},
): Promise<TestJob> {
  const wish = { source_type: source, source_project: sourceProject, target_project: project };
  const { status, text, json } = await api.post("/api/imports/jobs", wish);
  if (status !== 200) throw new Error(`no job: ${status} ${text}`);
  const id = json.job.id as number;
  const path = `/api/imports/jobs/${id}`;
  let sequence = 0;
  const head = () => ({
    schema_version: 2,
    ...wish,
    job_id: id,
    chunk_id: `chunk-${sequence}`,
    sequence,
    content_hash: "",
  });
  return {
    id,
    path,
    head,
    async put(parts, more = {}) {
      const answer = await api.post(`${path}/chunks`, { ...head(), ...parts, ...more });
      if (answer.status === 200 && answer.json.duplicate === false) sequence += 1;
      return answer;
    },
    commit: () => api.post(`${path}/commit`),
  };
}

/** Imports one chunk and returns the answer of the commit. */
export async function importChunk(
  api: Api,
  parts: ChunkParts,
  options: Parameters<typeof createImport>[1] = {},
): Promise<Answer> {
  const job = await createImport(api, options);
  const put = await job.put(parts, { final: true });
  return put.status === 200 ? job.commit() : put;
}
