// The pages for whoever is not signed in yet: one part of the bundle.
import "./shared-chunk.ts";
export { DevicePage } from "./device/device-page.tsx";
export { InvitePage } from "./invite/invite-page.tsx";
export { SignInPage } from "./sign-in/sign-in-page.tsx";
