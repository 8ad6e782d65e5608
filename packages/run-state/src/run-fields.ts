/** The values of fields by their kind: `time` is RFC 3339 in UTC. */
type Values = { readonly time: string; readonly uuid: string; readonly number: number };

/**
 * The fields of a run that are absent until something sets them, and that every reader passes on as they are: the name that the table, REST and
 * archives have, with the member of the message `Run`.
 */
export const runFields = {
  finished_at: { member: "finishedAt", kind: "time" },
  parent_run_id: { member: "parentRunId", kind: "uuid" },
  forked_from_step: { member: "forkedFromStep", kind: "number" },
  forked_from_artifact_id: { member: "forkedFromArtifactId", kind: "uuid" },
  resumed_at: { member: "resumedAt", kind: "time" },
} as const satisfies Readonly<Record<string, { readonly member: string; readonly kind: keyof Values }>>;

type Table = typeof runFields;
type Name = keyof Table;

/** The fields by their names; one that nothing has set is `Absent`. */
export type RunFields<Absent> = { readonly [N in Name]: Values[Table[N]["kind"]] | Absent };

/** The fields as members of the message `Run`. */
export type RunMembers = { readonly [N in Name as Table[N]["member"]]?: Values[Table[N]["kind"]] };

const entries = Object.entries(runFields) as readonly (readonly [Name, Table[Name]])[];

/** Returns the fields as members of a message, which leaves out those that nothing has set. */
export function runMembersOf(fields: RunFields<null | undefined>): RunMembers {
  const members: Record<string, string | number> = {};
  for (const [name, { member }] of entries) {
    const value = fields[name];
    if (value !== null && value !== undefined) members[member] = value;
  }
  return members;
}

/** Returns the fields of a message; `absent` stands for each that nothing has set. */
export function runFieldsOf<Absent extends null | undefined>(members: RunMembers, absent: Absent): RunFields<Absent> {
  const fields: Record<string, string | number | Absent> = {};
  for (const [name, { member }] of entries) fields[name] = members[member] ?? absent;
  return fields as RunFields<Absent>;
}

/** Returns, for each field, what its kind has: a schema, a shape, or nothing. */
export function eachRunField<By extends Readonly<Record<keyof Values, unknown>>>(
  byKind: By,
): { readonly [N in Name]: By[Table[N]["kind"]] } {
  const fields = entries.map(([name, { kind }]) => [name, byKind[kind]]);
  return Object.fromEntries(fields) as { readonly [N in Name]: By[Table[N]["kind"]] };
}
