import { sessionCookie } from "../header-names.ts";

/**
 * Value of the `set-cookie` header that gives a browser its session. Scripts cannot read it, and it comes
 * with requests of the same site only.
 */
export function giveSessionCookie(token: string, maxAgeSeconds: number, secure: boolean): string {
  return `${sessionCookie}=${token}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure ? "; Secure" : ""}`;
}

/** Value of the `set-cookie` header that takes it away. */
export function clearSessionCookie(secure: boolean): string {
  return giveSessionCookie("", 0, secure);
}
