import { request } from "undici";

/** An answer of the REST API. */
export type Answer = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  // oxlint-disable-next-line no-explicit-any -- tests look into bodies of every shape
  json: any;
};

/** Options of a call besides method and path. */
export type CallOptions = {
  body?: unknown;
  /** Sent unchanged, instead of `body`. */
  rawBody?: string | Uint8Array;
  headers?: Record<string, string>;
  key?: string | null;
};

/** Calls the REST API as one user. */
export type Api = {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The same server with another key; null sends no credentials. */
  as(key: string | null): Api;
  readonly baseUrl: string;
};

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes a client with an API key; every request is one HTTP request, nothing is repeated. */
export function createApi(baseUrl: string, key: string | null = null): Api {
  const call: Api["call"] = async (method, path, options = {}) => {
    const credential = options.key === undefined ? key : options.key;
    const body = options.rawBody ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
    const answer = await request(`${baseUrl}${path}`, {
      method: method as "GET",
      ...(body === undefined ? {} : { body }),
      headers: {
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...options.headers,
      },
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, headers: answer.headers, text, json: parse(text) };
  };
  return {
    call,
    get: (path, options) => call("GET", path, options),
    post: (path, body = {}, options = {}) => call("POST", path, { ...options, body }),
    patch: (path, body = {}, options = {}) => call("PATCH", path, { ...options, body }),
    as: (other) => createApi(baseUrl, other),
    baseUrl,
  };
}
