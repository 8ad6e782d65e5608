import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import pg from "pg";

/** A login role of one process: its URL, and the roles that it may become. By itself it may not read or write anything. */
export type Login = {
  /** postgres:// URL with the name and the password of the login role. */
  readonly url: string;
  readonly roles: readonly string[];
};

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const ITERATIONS = 4096;
// Any number, but the same in every Tidemark. Different from the one of migrations, which may take long.
const LOCK = 7_305_199_462;

/**
 * Returns the form in which PostgreSQL stores a password (RFC 5803), so that the password itself is not in any statement or log of the server.
 */
export function scramSecret(password: string, salt: Buffer = randomBytes(16)): string {
  const salted = pbkdf2Sync(password.normalize("NFKC"), salt, ITERATIONS, 32, "sha256");
  const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();
  const stored = createHash("sha256").update(hmac(salted, "Client Key")).digest("base64");
  const server = hmac(salted, "Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${stored}:${server}`;
}

function nameAndPassword(url: string): { name: string; password: string } {
  const { username, password } = new URL(url);
  const name = decodeURIComponent(username);
  if (!NAME.test(name)) throw new Error("a login role needs a name of small letters, digits and _, at most 63");
  if (password === "") throw new Error(`the login role ${name} needs a password`);
  return { name, password: decodeURIComponent(password) };
}

/** The roles that the role may become now. */
const MEMBERSHIPS = `
  SELECT granted.rolname AS role FROM pg_auth_members m
  JOIN pg_roles granted ON granted.oid = m.roleid JOIN pg_roles member ON member.oid = m.member
  WHERE member.rolname = $1`;

async function prepare(client: pg.Client, { url, roles }: Login): Promise<void> {
  const { name, password } = nameAndPassword(url);
  const login = pg.escapeIdentifier(name);
  const { rows: found } = await client.query<{ own: boolean; super: boolean }>(
    "SELECT rolname = current_user AS own, rolsuper AS super FROM pg_roles WHERE rolname = $1",
    [name],
  );
  if (found[0]?.own === true || found[0]?.super === true) {
    throw new Error(`${name} is the owner or a superuser: a process needs a login role of its own`);
  }
  if (found.length === 0) await client.query(`CREATE ROLE ${login} LOGIN NOINHERIT`);
  await client.query(`ALTER ROLE ${login} LOGIN NOINHERIT PASSWORD ${pg.escapeLiteral(scramSecret(password))}`);
  const { rows } = await client.query<{ role: string }>(MEMBERSHIPS, [name]);
  const before = new Set(rows.map(({ role }) => role));
  for (const role of before) {
    if (!roles.includes(role)) await client.query(`REVOKE ${pg.escapeIdentifier(role)} FROM ${login}`);
  }
  for (const role of roles) {
    if (!before.has(role)) await client.query(`GRANT ${pg.escapeIdentifier(role)} TO ${login}`);
  }
  await client.query(`GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(client.database ?? "")} TO ${login}`);
}

/**
 * Makes the login roles that are missing, sets their passwords, and lets each become exactly its roles, which exist. Only these roles, the owner
 * and superusers may connect to the database afterwards: the service roles belong to the whole server, so the login of another installation there
 * could otherwise read this one.
 * @param ownerUrl of a role that owns the database and has made the service roles, or is a superuser
 * @throws Error for a login that is the owner, a superuser, or without name or password
 */
export async function prepareLogins(ownerUrl: string, logins: readonly Login[]): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl, application_name: "tidemark-logins" });
  // The running statement, or the next one, fails with the same error.
  client.on("error", () => {});
  await client.connect();
  try {
    await client.query("BEGIN");
    await client.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
    await client.query(
      `REVOKE CONNECT, TEMPORARY ON DATABASE ${pg.escapeIdentifier(client.database ?? "")} FROM PUBLIC`,
    );
    for (const login of logins) await prepare(client, login);
    await client.query("COMMIT");
  } finally {
    await client.end();
  }
}
