import { createApi, type Answer, type CallOptions } from "./client.ts";

/** A person's browser with one of our pages open: keeps the session cookie, and names its origin with every change. */
export type Browser = {
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  get(path: string, options?: CallOptions): Promise<Answer>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  patch(path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The session token in its cookie jar; undefined when it is signed out. */
  token(): string | undefined;
};

/** The name of the session cookie. */
export const sessionCookie = "tidemark_session";

/** All `Set-Cookie` lines of an answer. */
export function cookiesSetBy(answer: Answer): string[] {
  return [answer.headers["set-cookie"] ?? []].flat();
}

/** Opens a browser with an empty cookie jar. */
export function openBrowser(baseUrl: string): Browser {
  const api = createApi(baseUrl);
  let token: string | undefined;

  const keepCookie = (answer: Answer): void => {
    for (const line of cookiesSetBy(answer)) {
      const [pair = "", ...attributes] = line.split(/;\s*/);
      if (!pair.startsWith(`${sessionCookie}=`)) continue;
      const value = pair.slice(sessionCookie.length + 1);
      const gone = value === "" || attributes.some((attribute) => /^max-age=0$/i.test(attribute));
      token = gone ? undefined : value;
    }
  };
  const call: Browser["call"] = async (method, path, options = {}) => {
    const headers = {
      ...(token === undefined ? {} : { cookie: `${sessionCookie}=${token}` }),
      ...(method === "GET" ? {} : { origin: baseUrl, "sec-fetch-site": "same-origin" }),
      ...options.headers,
    };
    const answer = await api.call(method, path, { ...options, headers });
    keepCookie(answer);
    return answer;
  };
  return {
    call,
    get: (path, options) => call("GET", path, options),
    post: (path, body = {}, options = {}) => call("POST", path, { ...options, body }),
    patch: (path, body = {}, options = {}) => call("PATCH", path, { ...options, body }),
    token: () => token,
  };
}
