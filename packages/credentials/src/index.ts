export {
  credentialKinds,
  equalHashes,
  hashCredential,
  issueCredential,
  keyPrefixLength,
  parseCredential,
  scopes,
  type CredentialKind,
  type IssuedCredential,
  type ParsedCredential,
  type Scope,
} from "./credentials.ts";
