export { credentialKinds, keyPrefixLength, type CredentialKind } from "./credential-kind.ts";
export { issueCredential, type IssuedCredential } from "./issue-credential.ts";
export { equalHashes, hashCredential, parseCredential, type ParsedCredential } from "./parse-credential.ts";
