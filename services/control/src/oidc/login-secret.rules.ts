/** What a browser keeps between the begin and the end of a login at a provider; nobody else may know it. */
export type LoginSecret = {
  /** Comes back in the answer of the provider: another site cannot end a login that it began. */
  readonly state: string;
  /** Stands in the ID token: it was made for this login. */
  readonly nonce: string;
  /** Of PKCE (RFC 7636): whoever has stolen the code cannot use it. */
  readonly verifier: string;
  /** The organization whose seat to take, and the path to go to afterwards; empty for none. */
  readonly orgId: string;
  readonly returnTo: string;
};

/** Writes the secret as a text of a cookie. */
export function writeLoginSecret({ state, nonce, verifier, orgId, returnTo }: LoginSecret): string {
  return Buffer.from(JSON.stringify([state, nonce, verifier, orgId, returnTo])).toString("base64url");
}

/** Reads the text that `writeLoginSecret` wrote; undefined for every other one. */
export function readLoginSecret(text: string): LoginSecret | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, "base64url").toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields) || fields.length !== 5 || !fields.every((field) => typeof field === "string"))
    return undefined;
  const [state, nonce, verifier, orgId, returnTo] = fields as [string, string, string, string, string];
  if (state === "" || nonce === "" || verifier === "") return undefined;
  return { state, nonce, verifier, orgId, returnTo: isOwnPath(returnTo) ? returnTo : "" };
}

const PATH_CHARACTERS_MAX = 1024;

/** Tells whether a text is a path on this site, which browsers take for nothing else: no address of another site, no line end. */
export function isOwnPath(text: string): boolean {
  return text.length <= PATH_CHARACTERS_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\");
}
