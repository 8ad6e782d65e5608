// The pages for users who are not signed in yet: one part of the bundle.
import "./shared-chunk.ts";
export { DevicePage } from "./device/device-page.tsx";
export { InvitePage } from "./invite/invite-page.tsx";
export { SignInPage } from "./sign-in/sign-in-page.tsx";
