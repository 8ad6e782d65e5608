import type { Run } from "@tidemark/proto/runs/v1/runs";
import type { Call } from "@tidemark/rpc";
import { requireMessage } from "../../../api/replies.ts";
import type { Clients } from "../../../clients.ts";
import { jsonBytes } from "../documents.ts";
import { paramsToConfig } from "./params.ts";
import { tagChanges } from "./tags.ts";

/** Texts of a run to write. */
export type RunTexts = {
  readonly params?: readonly { readonly key: string; readonly value: string }[];
  /** The last value of a key counts; null removes it. */
  readonly tags?: ReadonlyMap<string, string | null>;
  readonly name?: string | undefined;
  readonly status?: string | undefined;
  /** More members of `metadata.mlflow`; null removes one. */
  readonly mlflow?: Readonly<Record<string, unknown>>;
};

/** Returns a function that writes texts of a run, all or none, with one call unless a note is long. @throws bad_request before anything is written */
export function runWriter(runId: string, { params = [], tags = new Map(), name, status, mlflow }: RunTexts) {
  const config = paramsToConfig(params);
  const { readme, notes, name: tagName, mlflow: patch } = tagChanges(tags);
  const merged = { ...patch, ...mlflow };
  const newName = name ?? tagName;
  return async (clients: Clients, call: Call): Promise<Run> => {
    const { run } = await clients.runs.updateRun(
      {
        runId,
        ...(newName === undefined ? {} : { name: newName }),
        ...(status === undefined ? {} : { status }),
        ...(notes === undefined ? {} : { notes }),
        ...(params.length === 0 ? {} : { configAdditionsJson: jsonBytes(config) }),
        metadataPatchJson: jsonBytes({ mlflow: merged }),
      },
      call,
    );
    if (readme !== undefined) await clients.runs.putReadme({ runId, markdown: readme }, call);
    return requireMessage(run);
  };
}
