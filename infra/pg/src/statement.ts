/** A SQL statement with a name; PostgreSQL prepares it once per connection under that name. */
export type Statement = { readonly name: string; readonly text: string };

const names = new Map<string, string>();

/**
 * Declares a statement. Names are unique in a process (`<schema>_<verb>_<noun>`), because a second
 * text under a prepared name would run the first one.
 */
export function sql(name: string, text: string): Statement {
  const known = names.get(name);
  if (known !== undefined && known !== text) {
    throw new Error(`two SQL statements share the name ${name}`);
  }
  names.set(name, text);
  return { name, text };
}
