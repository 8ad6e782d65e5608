import { explainFailure } from "@tidemark/toolcache";

/** Why a server did not start, as one line for a person; `portInUse` when only the port was the reason. */
export type PostgresFailure = { portInUse: boolean; text: string };

/** Finds the reason in the output of initdb or the server (in the C locale). Pure. */
export function explainPostgres(lines: readonly string[], folder: string): PostgresFailure {
  const output = lines.join("\n");
  const text = (line: string): PostgresFailure => ({ portInUse: false, text: line });
  // The full disk first: other failures follow from it.
  if (explainFailure(output) === "the disk is full") return text(`the disk with ${folder} is full`);
  if (/Address already in use/i.test(output)) return { portInUse: true, text: "the port is in use by another program" };
  const owner = /lock file "postmaster\.pid" already exists[\s\S]*\(PID (\d+)\)/.exec(output)?.[1];
  if (owner !== undefined) return text(`another PostgreSQL (process ${owner}) is using ${folder}`);
  const fault = lines.find((line) => /\b(FATAL|PANIC|error|could not)\b/i.test(line)) ?? lines.at(-1);
  return text(
    `PostgreSQL did not start: ${fault?.replace(/^(\w+: )?(FATAL|PANIC|error):\s+/i, "") ?? "it said nothing"}`,
  );
}
