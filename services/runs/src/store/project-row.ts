/** A project as the statements of this folder return it. */
export type ProjectRow = {
  readonly id: string;
  readonly org_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: string;
};

/** Select list of a `ProjectRow`. */
export const projectColumns = "id, org_id, name, description, created_at";
