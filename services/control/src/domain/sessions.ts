/** How long a browser's session lasts, from sign-in. */
export const sessionSeconds = 30 * 24 * 60 * 60;

/** When a session that begins now ends. */
export function sessionEnd(now: Date): Date {
  return new Date(now.getTime() + sessionSeconds * 1000);
}
