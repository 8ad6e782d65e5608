import { headerNames, IDEMPOTENCY_KEY_MAX } from "../http/headers.ts";
import { PAGE_TYPE } from "../http/page.ts";
import type { Route, Schema } from "../route.ts";

const descriptions: Readonly<Record<number, string>> = {
  200: "Done.",
  206: "A part of the file.",
  303: "The browser goes elsewhere.",
  304: "The client has this answer: one of the tags in If-None-Match is its own.",
  400: "The request is malformed or breaks a rule.",
  401: "Credentials are missing or not valid.",
  402: "A plan limit or an unpaid bill prevents it.",
  403: "The credentials do not allow it.",
  404: "It does not exist, or not for this caller.",
  409: "It contradicts what is stored.",
  410: "It existed and has been deleted.",
  413: "The body is too large.",
  416: "The range is not available.",
  429: "Too many requests; Retry-After says when to try again.",
  500: "An error of the service.",
  503: "Not available at the moment; Retry-After says when to try again.",
};

/** The media type of files. */
const FILE_TYPE = "application/octet-stream";

/** Describes one route as an OpenAPI operation. */
export function operationOf(route: Route): Schema {
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    parameters: [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)],
    ...requestBody(route),
    responses: responsesOf(route),
    security: securityOf(route),
  };
}

/** `POST /runs/{run_id}/metrics/batch` becomes `post_runs_run_id_metrics_batch`. */
function operationIdOf({ method, path }: Route): string {
  return `${method} ${path}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "_")
    .replace(/_$/, "");
}

function pathParameters({ path }: Route): Schema[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters({ schemas, queryNeverBlank }: Route): Schema[] {
  const { properties = {}, required = [] } = (schemas.query ?? {}) as {
    properties?: Readonly<Record<string, Schema>>;
    required?: readonly string[];
  };
  return Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    return {
      name,
      in: "query",
      required: isRequired,
      // A blank value means that the parameter is absent.
      ...(isRequired || queryNeverBlank?.includes(name) === true ? {} : { allowEmptyValue: true }),
      schema: valueSchemaOf(schema),
    };
  });
}

/** Queries have no null. */
function valueSchemaOf({ type, ...schema }: Schema): Schema {
  const types = [type].flat().filter((one) => one !== undefined && one !== "null");
  return types.length === 0 ? schema : { type: types.length === 1 ? types[0] : types, ...schema };
}

function headerParameters(route: Route): Schema[] {
  const own = Object.entries(route.requestHeaders ?? {}).map(([name, description]) => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  }));
  return [...idempotencyParameters(route), ...conditionParameters(route), ...rangeParameters(route), ...own];
}

function rangeParameters({ schemas }: Route): Schema[] {
  if (schemas.responseType !== FILE_TYPE) return [];
  return [
    {
      name: "Range",
      in: "header",
      required: false,
      description:
        "`bytes=<first>-<last>`, `bytes=<first>-` or `bytes=-<count>`. Several ranges and other units get the whole file.",
      schema: { type: "string" },
    },
  ];
}

function conditionParameters(route: Route): Schema[] {
  if (!isConditional(route)) return [];
  return [
    {
      name: "If-None-Match",
      in: "header",
      required: false,
      description:
        "Entity tags of answers that the client has, or `*`. Where one of them is that of the answer, the status is 304.",
      schema: { type: "string" },
    },
  ];
}

function isConditional({ statuses }: Route): boolean {
  return statuses.includes(304);
}

function idempotencyParameters({ idempotency, idempotencyKeyMax = IDEMPOTENCY_KEY_MAX }: Route): Schema[] {
  if (idempotency === "none") return [];
  return [
    {
      name: "Idempotency-Key",
      in: "header",
      required: idempotency === "required",
      description:
        "Repeating a request under one key has one effect and one answer." +
        (idempotency === "required" ? "" : " A blank one counts as absent."),
      schema: {
        type: "string",
        pattern: `^[\\x21-\\x7e]{${idempotency === "required" ? 1 : 0},${idempotencyKeyMax}}$`,
      },
    },
  ];
}

function requestBody({ body, streamed, schemas, protocol }: Route): Schema {
  if (protocol !== undefined) {
    const content = protocol.mediaTypes.map((type) => [type, { schema: type.endsWith("json") ? schemas.body : {} }]);
    return { requestBody: { required: true, content: Object.fromEntries(content) as Schema } };
  }
  if (streamed === "bytes") {
    return { requestBody: { required: true, content: { [FILE_TYPE]: { schema: schemas.body ?? {} } } } };
  }
  if (body === undefined) return {};
  return {
    requestBody: {
      required: body === "required",
      content: { "application/json": { schema: schemas.body ?? { type: "object" } } },
    },
  };
}

function responsesOf(route: Route): Schema {
  return Object.fromEntries(statusesOf(route).map((status) => [status, responseOf(route, status)]));
}

/** Returns the statuses of the specification's table and those that any such route can answer with. */
function statusesOf({ statuses, body, streamed, callers, rate, embed }: Route): number[] {
  const implied = [
    // The query of any route may be malformed.
    400,
    ...(body === undefined && streamed === undefined ? [] : [413]),
    ...(callers.kind === "anyone" ? [] : [401]),
    ...(rate === "none" && embed === undefined ? [] : [429]),
    500,
    503,
  ];
  return [...new Set([...statuses, ...implied])].toSorted((a, b) => a - b);
}

function responseOf(route: Route, status: number): Schema {
  const { schemas, protocol } = route;
  const errorSchema = protocol?.errorSchema ?? { $ref: "#/components/schemas/Error" };
  const schema = status < 300 ? schemas.response : errorSchema;
  const tagged = status < 400 && isConditional(route);
  const text: Schema = { type: "string" };
  const answer = {
    description: descriptions[status] ?? "See the error.",
    headers: {
      "x-request-id": { description: "Names this request in the logs.", schema: text },
      ...limitHeaders(route, status),
      ...(tagged ? { ETag: { description: "Names this answer; weak.", schema: text } } : {}),
      ...(status === 206 || status === 416
        ? { "Content-Range": { description: "Which bytes of how many these are.", schema: text } }
        : {}),
    },
  };
  if (status === 303)
    return { ...answer, headers: { ...answer.headers, Location: { description: "Where to go.", schema: text } } };
  if (status === 304) return answer;
  const isPage = schemas.responseType === PAGE_TYPE;
  const type = status < 300 || isPage ? (schemas.responseType ?? "application/json") : "application/json";
  const others = status < 300 ? (schemas.otherTypes ?? []) : [];
  return {
    ...answer,
    content: {
      [type]: { schema: isPage ? schemas.response : schema },
      ...Object.fromEntries(others.map((other) => [other, { schema: text }])),
    },
  };
}

function securityOf({ callers }: Route): Schema[] {
  if (callers.kind === "anyone") return [];
  if (callers.kind === "embed") return [{ bearerEmbedToken: [] }];
  if (callers.kind === "operator") return [{ bootstrapToken: [] }];
  return [
    ...("refused" in callers.key ? [] : [{ bearerApiKey: [] }]),
    ...("roles" in callers.session ? [{ cookieSession: [] }] : []),
    ...(callers.operator === true ? [{ bootstrapToken: [] }] : []),
    ...(callers.orAnyone === true ? [{}] : []),
  ];
}

const whole: Schema = { type: "integer", minimum: 0 };
const retryAfter = {
  "Retry-After": { description: "Whole seconds until another request may go through.", schema: whole },
};

/** Returns the headers of the limits that an answer has, as OpenAPI describes headers. Only requests of organizations have them on all answers. */
function limitHeaders({ rate, callers }: Pick<Route, "rate" | "callers">, status: number): Schema {
  if (rate === "none" || callers.kind === "anyone" || status >= 500) return status === 429 ? retryAfter : {};
  return {
    [headerNames.rateLimitScope[0]]: {
      description:
        "`second`: the headers are about the rate; `monthly`: the allowance of the month is used up. Absent where limits are off.",
      schema: { enum: ["second", "monthly"] },
    },
    "RateLimit-Limit": { description: "Requests per second, or of the month.", schema: { type: "number" } },
    "RateLimit-Remaining": { description: "Requests that may be made now.", schema: whole },
    "RateLimit-Reset": { description: "Whole seconds to wait; 0 unless refused.", schema: whole },
    ...(status === 429 ? retryAfter : {}),
  };
}
