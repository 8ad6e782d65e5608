import { expect } from "@jest/globals";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { writeJson } from "../http/json.ts";
import type { RouteReply } from "../route.ts";
import { allRoutes } from "./index.ts";

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
formats.default(ajv);

/** Returns the JSON body that a client gets, after checking it against the response schema of a route such as `GET /runs/{run_id}`. */
export function bodyOf(reply: Pick<RouteReply, "body" | "bytes">, route: string): Record<string, unknown> {
  const body: unknown = JSON.parse(reply.bytes?.toString() ?? writeJson(reply.body));
  const record = allRoutes.find(({ method, path }) => `${method} ${path}` === route);
  const validate = ajv.compile(record?.schemas.response ?? false);
  expect([validate(body), validate.errors]).toEqual([true, null]);
  return body as Record<string, unknown>;
}
