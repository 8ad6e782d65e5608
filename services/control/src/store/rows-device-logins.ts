/** A login that began on a device. */
export type DeviceLoginRow = {
  credential_id: string;
  hash: Uint8Array;
  status: "pending" | "approved" | "finished";
  org_id: string | null;
  user_id: string | null;
  expires_at: string;
  last_polled_at: string | null;
};

/** Columns of a DeviceLoginRow. */
export const deviceLoginColumns = "credential_id, hash, status, org_id, user_id, expires_at, last_polled_at";
