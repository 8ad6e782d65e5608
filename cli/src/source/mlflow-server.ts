import { readPythonJson, type FetchJson } from "@tidemark/import-formats";
import { failure } from "../cli-error.ts";
import type { Surroundings } from "../surroundings.ts";

/**
 * Returns a function that queries an MLflow server. Credentials are read from MLflow's own variables, and are sent only to this server.
 * @throws CliError where the server does not answer as one of MLflow
 */
export function createFetchJson(address: string, { env, signal }: Pick<Surroundings, "env" | "signal">): FetchJson {
  const base = `${address.replace(/\/+$/, "")}/api/2.0/mlflow/`;
  const authorization = authorizationOf(env);
  const headers = { accept: "application/json", ...(authorization === undefined ? {} : { authorization }) };
  return async (method, path, parameters) => {
    const url = new URL(base + path);
    if (method === "GET")
      for (const [name, value] of Object.entries(parameters))
        url.searchParams.set(name, typeof value === "string" ? value : JSON.stringify(value));
    const body =
      method === "POST"
        ? { headers: { ...headers, "content-type": "application/json" }, body: JSON.stringify(parameters) }
        : { headers };
    const answer = await fetch(url, { method, ...body, signal, redirect: "error" }).catch((error: unknown) => {
      throw failure(`${url.origin} cannot be reached`, error);
    });
    const text = await answer.text();
    if (!answer.ok) throw failure(`${url.origin} answered ${answer.status} to ${path}: ${text.slice(0, 200)}`);
    const json = readPythonJson(text);
    if (json === undefined) throw failure(`${url.origin} does not answer as an MLflow server`);
    return json;
  };
}

function authorizationOf(env: Surroundings["env"]): string | undefined {
  const [token, user, password] = ["TOKEN", "USERNAME", "PASSWORD"].map((name) => env[`MLFLOW_TRACKING_${name}`]);
  if (token !== undefined) return `Bearer ${token}`;
  if (user === undefined) return undefined;
  return `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
}
