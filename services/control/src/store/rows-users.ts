/** A person. */
export type UserRow = {
  id: string;
  email: string;
  display_name: string | null;
  avatar_url: string | null;
  created_at: string;
  last_seen_at: string | null;
};

/** Columns of a UserRow. */
export const userColumns = "id, email, display_name, avatar_url, created_at, last_seen_at";
