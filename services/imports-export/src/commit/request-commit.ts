import { toBinary } from "@bufbuild/protobuf";
import { putOutbox, type Tx } from "@tidemark/pg";
import { IdentitySchema, type Identity } from "@tidemark/proto/common/v1/common";
import type { JobRow } from "../jobs/jobs.sql.ts";
import { beginCommit, type JobName } from "./commit.sql.ts";
import { COMMIT_SUBJECT } from "./committer.ts";

/** Begins the commit of a job that this transaction has locked: its row and the message that wakes a worker are written in one transaction. */
export async function requestCommit(
  tx: Tx,
  locked: Pick<JobRow, "orgId" | "id" | "dedupePolicy">,
  identity: Identity,
): Promise<JobRow> {
  const { orgId, id } = locked;
  const job = await beginCommit(tx, locked, toBinary(IdentitySchema, identity));
  const payload = Buffer.from(JSON.stringify({ orgId, id } satisfies JobName));
  await putOutbox(tx, orgId, { service: "imports", subject: COMMIT_SUBJECT, payload });
  return job;
}
