import { takeToken } from "../../app/take-token.ts";

/** Where the token waits while a person signs in; it ends with the tab. */
const STORED = "tidemark-invitation";

/** Returns the token of the link that was opened, also after its person signed in. */
export function invitationToken(): string | undefined {
  const token = takeToken();
  try {
    if (token !== undefined) sessionStorage.setItem(STORED, token);
    return token ?? sessionStorage.getItem(STORED) ?? undefined;
  } catch {
    // Nothing is stored in this browser.
    return token;
  }
}

/** Forgets it once it is used. */
export function forgetInvitation(): void {
  try {
    sessionStorage.removeItem(STORED);
  } catch {
    // Nothing is stored in this browser.
  }
}
