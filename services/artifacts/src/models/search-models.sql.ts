import { plannedSql, type Tx } from "@tidemark/pg";
import {
  afterSql,
  type Condition,
  conditionSql,
  cursorBehind,
  type DatasetName,
  equalText,
  keyColumns,
  type Keyed,
  type Order,
  orderSql,
  parameters,
  type Searched,
  sortKeys,
} from "@tidemark/pg/query";

const metrics = "FROM artifacts.model_metrics x WHERE x.org_id = $1 AND x.model_id = t.id AND x.key =";

const fields: Searched["fields"] = {
  name: { sql: "t.name", type: "text" },
  id: { sql: "t.id", type: "id" },
  type: { sql: "t.type", type: "text" },
  status: { sql: "t.status", type: "text" },
  source_run_id: { sql: "t.source_run_id", type: "id", isOptional: true },
  created_at: { sql: "t.created_at", type: "time" },
  updated_at: { sql: "t.updated_at", type: "time" },
};

type Asked = {
  readonly projectIds: readonly string[];
  readonly conditions: readonly Condition[];
  readonly orders: readonly Order[];
  readonly datasets: readonly DatasetName[];
  readonly cursor: string;
  readonly limit: number;
};

/** Returns the next models of live projects that a search finds, with the bytes of their texts. @throws bad_request */
export async function findModels(
  tx: Tx,
  orgId: string,
  { projectIds, conditions, orders, datasets, cursor, limit }: Asked,
) {
  const { values, bind } = parameters(orgId);
  const ofDatasets = (named: readonly { name: string; digest: string }[]): string => {
    if (named.length === 0) return "";
    const tests = named.map(({ name, digest }) =>
      digest === ""
        ? `x.dataset_name = ${bind(name)}::text`
        : `(x.dataset_name = ${bind(name)}::text AND x.dataset_digest = ${bind(digest)}::text)`,
    );
    return ` AND (${tests.join(" OR ")})`;
  };
  const searched: Searched = {
    fields,
    texts: ["tag", "param"],
    metric: (key, add, test) =>
      `EXISTS (SELECT ${metrics} ${add(key)}::text${ofDatasets(datasets)} AND ${test("x.value")})`,
    metricValue: (key, { dataset }, add) =>
      `(SELECT x.value ${metrics} ${add(key)}::text${ofDatasets(dataset === undefined ? [] : [dataset])}
        ORDER BY x.step DESC, x.time_ms DESC, x.value DESC LIMIT 1)`,
  };
  const projects = `${bind(projectIds)}::uuid[]`;
  const tests = conditions.map((condition) => conditionSql(searched, condition, bind));
  const keys = sortKeys(
    searched,
    orders,
    [
      { sql: "t.created_at", type: "time", isDescending: true },
      { sql: "t.id", type: "id", isDescending: true },
    ],
    bind,
  );
  const form = `models ${JSON.stringify(orders.map(({ of, key, descending }) => [of, key, descending]))}`;
  const after = afterSql(form, keys, cursor, bind);
  const name = equalText(conditions, "name");
  // The index of names has the project as text.
  const ofProject =
    name === undefined
      ? "t.project_id = asked.id"
      : `t.project_id::text COLLATE "C" = asked.id::text AND t.name = ${bind(name)}::text`;
  const where = [`t.org_id = $1 AND ${ofProject}`, after, ...tests].join(" AND ");
  const most = `${bind(limit)}::bigint`;
  const text = `SELECT f.* FROM (SELECT DISTINCT id FROM unnest(${projects}) AS u (id)) asked
    CROSS JOIN LATERAL (SELECT FROM runs.project_refs_v1 p WHERE p.org_id = $1 AND p.id = asked.id OFFSET 0) live
    CROSS JOIN LATERAL (
      SELECT t.id, t.bytes, ${keyColumns(keys)} FROM artifacts.models t WHERE ${where} ORDER BY ${orderSql(keys)} LIMIT ${most}) f
    ORDER BY ${keys.map(({ isDescending }, i) => `f.k${i}${isDescending ? " DESC" : ""}`).join(", ")} LIMIT ${most}`;
  const statement = plannedSql("artifacts_search_models", text);
  const found = await tx.rows<Keyed & { readonly id: string; readonly bytes: number }>(statement, values);
  return { found, cursorOf: (row: Keyed) => cursorBehind(form, keys, row) };
}
