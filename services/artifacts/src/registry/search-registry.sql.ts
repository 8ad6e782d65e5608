import { plannedSql, type Tx } from "@tidemark/pg";
import {
  afterSql,
  type Bind,
  type Condition,
  conditionSql,
  cursorBehind,
  equalText,
  keyColumns,
  type Keyed,
  type Order,
  orderSql,
  parameters,
  type Searched,
  sortKeys,
} from "@tidemark/pg/query";
import { isVisible } from "./registered-versions.sql.ts";

type Asked = {
  readonly conditions: readonly Condition[];
  readonly orders: readonly Order[];
  readonly cursor: string;
  readonly limit: number;
};

/** A row that a search finds, with the bytes of its texts. */
type Found = Keyed & { readonly id: string; readonly bytes: number };

type Result = { readonly found: Found[]; readonly cursorOf: (row: Keyed) => string };

const models: Searched = {
  fields: {
    name: { sql: "t.name", type: "text" },
    created_at: { sql: "t.created_at", type: "time" },
    updated_at: { sql: "t.updated_at", type: "time" },
  },
  texts: ["tag"],
};

const versions: Searched = {
  fields: {
    name: { sql: "r.name", type: "text" },
    number: { sql: "t.number", type: "number" },
    source: { sql: "t.source", type: "text" },
    run_id: { sql: "t.run_id", type: "id", isOptional: true },
    created_at: { sql: "t.created_at", type: "time" },
    updated_at: { sql: "t.updated_at", type: "time" },
  },
  texts: ["tag"],
};

type Form = {
  readonly name: string;
  readonly searched: Searched;
  readonly last: Parameters<typeof sortKeys>[2];
  readonly from: (project: string, bind: Bind) => string;
};

async function find(tx: Tx, orgId: string, projectId: string | undefined, form: Form, asked: Asked): Promise<Result> {
  const { values, bind } = parameters(orgId);
  const project = bind(projectId ?? null);
  const keys = sortKeys(form.searched, asked.orders, form.last, bind);
  const orders = asked.orders.map(({ of, key, descending }) => [of, key, descending]);
  const formName = `${form.name} ${JSON.stringify(orders)}`;
  const tests = [
    ...asked.conditions.map((condition) => conditionSql(form.searched, condition, bind)),
    afterSql(formName, keys, asked.cursor, bind),
  ];
  const text = `SELECT t.id, t.bytes, ${keyColumns(keys)} ${form.from(project, bind)} AND ${tests.join(" AND ")}
    ORDER BY ${orderSql(keys)} LIMIT ${bind(asked.limit)}::bigint`;
  const statement = plannedSql(`artifacts_search_${form.name}`, text);
  const found = await tx.rows<Found>(statement, values);
  return { found, cursorOf: (row) => cursorBehind(formName, keys, row) };
}

/** Returns the next registered models that a search finds, which a caller of this project, or of all, may see. @throws bad_request */
export function findRegisteredModels(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  asked: Asked,
): Promise<Result> {
  const form: Form = {
    name: "registered_models",
    searched: models,
    last: [{ sql: "t.name", type: "text", isDescending: false }],
    from: (project) =>
      `FROM artifacts.registered_models t WHERE t.org_id = $1 AND (${project}::uuid IS NULL OR t.project_id = ${project}::uuid)`,
  };
  return find(tx, orgId, projectId, form, asked);
}

/** Returns the next versions that a search finds, which a caller of this project, or of all, may see. @throws bad_request */
export function findRegisteredVersions(
  tx: Tx,
  orgId: string,
  projectId: string | undefined,
  asked: Asked,
): Promise<Result> {
  const form: Form = {
    name: "registered_versions",
    searched: versions,
    last: [
      { sql: "t.updated_at", type: "time", isDescending: true },
      { sql: "t.id", type: "id", isDescending: true },
    ],
    from: (project, bind) => {
      const name = equalText(asked.conditions, "name");
      // The index of the last changed versions of one has it as text.
      const named =
        name === undefined
          ? "true"
          : `t.registered_id::text COLLATE "C" = (SELECT o.id::text FROM artifacts.registered_models o WHERE o.org_id = $1 AND o.name = ${bind(name)}::text)`;
      return `FROM artifacts.registered_versions t
        CROSS JOIN LATERAL (
          SELECT f.name FROM artifacts.registered_models f WHERE f.org_id = $1 AND f.id = t.registered_id OFFSET 0) r
        WHERE t.org_id = $1 AND ${named} AND ${isVisible("t", project)}`;
    },
  };
  return find(tx, orgId, projectId, form, asked);
}
