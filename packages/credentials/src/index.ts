export { credentialKinds, keyPrefixLength, type CredentialKind } from "./credential-kind.ts";
export { issueCredential, type IssuedCredential } from "./issue-credential.ts";
export { scopes, type Scope } from "./scopes.ts";
export { equalHashes, hashCredential, parseCredential, type ParsedCredential } from "./parse-credential.ts";
