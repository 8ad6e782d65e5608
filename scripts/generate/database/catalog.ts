/** A connection that reads the system catalogs; its search path is empty, so that every printed name carries its schema. */
export type Catalog = {
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<{ rows: Row[] }>;
};

/** Fields of every object: its owner, whether that is the role that migrates, and the privileges of other roles. */
export type Owned = { readonly owner: string; readonly migrator: boolean; readonly grants: readonly Grant[] };

/** One privilege of one role on an object, or on one column of it. */
export type Grant = { readonly grantee: string; readonly privilege: string; readonly column: string | null };

/** The columns of {@link Owned} for an owner and an access list; the owner's own privileges are left out. */
export const ownedColumns = (owner: string, acl: string): string => `
  pg_get_userbyid(${owner}) AS owner, ${owner} = current_user::regrole AS migrator,
  (SELECT coalesce(json_agg(json_build_object('grantee', CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(a.grantee) END,
                                              'privilege', a.privilege_type, 'column', NULL)), '[]')
   FROM aclexplode(${acl}) a WHERE a.grantee <> ${owner}) AS grants`;

/** Names the owner where it is not the role that migrates, then who else may do what. */
export function ownerAndGrants(kind: string, name: string, { owner, migrator, grants }: Owned): readonly string[] {
  const given = migrator ? [] : [`ALTER ${kind} ${name} OWNER TO ${owner};`];
  return [...given, ...grantStatements(kind === "VIEW" ? "TABLE" : kind, name, grants)];
}

/** Privileges in the order in which a person expects them; others follow. */
const order = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "USAGE", "CREATE"];
const orderOf = ({ privilege }: Grant): number => (order.includes(privilege) ? order.indexOf(privilege) : order.length);

/** A statement for each set of privileges, which names all roles that have exactly this set. */
function grantStatements(kind: string, name: string, grants: readonly Grant[]): readonly string[] {
  const ofRole = Map.groupBy(grants, ({ grantee }) => grantee);
  const ofSet = Map.groupBy(ofRole.keys(), (role) => privilegeList(ofRole.get(role) ?? []));
  return [...ofSet]
    .map(([privileges, roles]) => ({ privileges, roles: roles.toSorted().join(", ") }))
    .toSorted((a, b) => (a.roles < b.roles ? -1 : 1))
    .map(({ privileges, roles }) => wrap(`GRANT ${privileges} ON ${kind} ${name} TO ${roles};`));
}

/** `SELECT, UPDATE (a, b)`: the columns in the order in which they were given. */
function privilegeList(grants: readonly Grant[]): string {
  const sorted = grants.toSorted((a, b) => orderOf(a) - orderOf(b) || (a.privilege < b.privilege ? -1 : 1));
  return [...Map.groupBy(sorted, ({ privilege }) => privilege)]
    .flatMap(([privilege, same]) => {
      const columns = same.flatMap(({ column }) => column ?? []);
      const whole = columns.length < same.length ? [privilege] : [];
      return columns.length === 0 ? whole : [...whole, `${privilege} (${columns.join(", ")})`];
    })
    .join(", ");
}

/** Longest line, in characters. */
const LINE_MAX = 120;

/** Breaks a long statement after commas, at 120 characters; the lines after the first are indented. */
export function wrap(statement: string, indent = "  "): string {
  const [first = "", ...rest] = fill(statement.split(/(?<=,) /), LINE_MAX - indent.length, LINE_MAX);
  return [first, ...rest.map((line) => indent + line)].join("\n");
}

/** Returns a text as SQL comment lines of at most 120 characters. */
export function comment(text: string | null, indent = ""): readonly string[] {
  if (text === null) return [];
  const lead = `${indent}-- `;
  return text.split("\n").flatMap((line) => fill(line.split(" "), LINE_MAX - lead.length).map((part) => lead + part));
}

/** Joins parts by blanks into lines of at most `max` characters, the first of at most `firstMax`; a longer part has a line to itself. */
function fill(parts: readonly string[], max: number, firstMax = max): string[] {
  const [first = "", ...rest] = parts;
  const lines = [first];
  for (const part of rest) {
    const line = lines.at(-1) ?? "";
    const most = lines.length === 1 ? firstMax : max;
    if (line.length + 1 + part.length > most) lines.push(part);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines;
}
