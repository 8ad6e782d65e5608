import type { Dialect } from "../../route.ts";
import { writeMlflowError } from "./errors.ts";
import { readMlflowQuery } from "./query.ts";

/** The REST API of MLflow's tracking server, as its clients 2.22 and 3 use it. */
export const mlflow: Dialect = {
  name: "mlflow",
  prefixes: ["/api/2.0/", "/api/3.0/"],
  takesBasic: true,
  readQuery: readMlflowQuery,
  writeError: writeMlflowError,
};
