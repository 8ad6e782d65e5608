/** What a call of a dialect may name, as the dialect writes it. */
export type NamedIds = {
  /** A run of MLflow: 32 hexadecimal digits. */
  readonly mlflowRun: string;
  /** An experiment of MLflow: a number. */
  readonly mlflowExperiment: string;
};

/** A request of a dialect, whose fields are sent as the query of a GET and as the body of other methods. */
export type DialectCall = {
  /** Makes the fields of a request that is accepted if the rows it names are the caller's own. */
  readonly fields: (ids: NamedIds) => Readonly<Record<string, unknown>>;
  /** It names rows by an id: of another organization they are answered as missing ones. */
  readonly namesRows: boolean;
};

/** A request of every route of a dialect, by method and path. */
export const dialectCalls: Readonly<Record<string, DialectCall>> = {
  "GET /api/3.0/mlflow/server-info": { fields: () => ({}), namesRows: false },
};

/** Returns the address and the body of a call. */
export function sentAs(
  route: string,
  fields: Readonly<Record<string, unknown>>,
): { readonly method: string; readonly path: string; readonly body?: unknown } {
  const [method = "", path = ""] = route.split(" ");
  if (method !== "GET") return { method, path, body: fields };
  const query = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  );
  return { method, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}
