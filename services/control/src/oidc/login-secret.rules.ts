/** The secrets that a browser keeps between the start and the end of a login at a provider; no other party may know them. */
export type LoginSecret = {
  /** Returned in the response of the provider: another site cannot end a login that it began. */
  readonly state: string;
  /** Contained in the ID token: it was made for this login. */
  readonly nonce: string;
  /** Of PKCE (RFC 7636): a thief of the code cannot use it. */
  readonly verifier: string;
  /** The organization whose seat to take, and the path to go to afterwards; empty for none. */
  readonly orgId: string;
  readonly returnTo: string;
};

/** Writes the secret as a text of a cookie. */
export function writeLoginSecret({ state, nonce, verifier, orgId, returnTo }: LoginSecret): string {
  return Buffer.from(JSON.stringify([state, nonce, verifier, orgId, returnTo])).toString("base64url");
}

/** Reads the text that `writeLoginSecret` wrote; undefined for every other text. */
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

/** Returns whether a text is a path on this site that browsers cannot misread: no address of another site, no line end. */
export function isOwnPath(text: string): boolean {
  return text.length <= PATH_CHARACTERS_MAX && /^\/(?![/\\])[\x21-\x7e]*$/.test(text) && !text.includes("\\");
}
