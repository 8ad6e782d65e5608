import { bool, defineConfig, list, secret, sharedFields, text, url } from "@tidemark/config";

/** Settings of the control service. */
export const controlConfig = defineConfig({
  devAuth: bool({
    env: "TIDEMARK_DEV_AUTH",
    default: false,
    help: "Whether anybody on this machine may sign in by an e-mail address alone, under a loopback name and through no proxy. For development only.",
  }),
  webUrl: url({
    env: "TIDEMARK_WEB_URL",
    optional: true,
    help: "Where people's pages are, for links in invitations and device logins; otherwise where the request came in.",
  }),
  mail: text({
    env: "TIDEMARK_MAIL",
    default: "log",
    oneOf: ["log", "off"],
    help: "How invitations are sent: log gives the link to the person who invites, off refuses invitations.",
  }),
  oidcIssuer: url({
    env: "TIDEMARK_OIDC_ISSUER",
    optional: true,
    help: "The issuer of the OpenID Connect provider at which people sign in. It has to know <public URL>/api/auth/oidc/callback as a redirect URI.",
  }),
  oidcClientId: text({
    env: "TIDEMARK_OIDC_CLIENT_ID",
    optional: true,
    help: "As which client the provider knows this installation.",
  }),
  oidcClientSecret: secret({
    env: "TIDEMARK_OIDC_CLIENT_SECRET",
    optional: true,
    help: "The secret of that client; none for a public client, which PKCE alone protects.",
  }),
  oidcScopes: text({
    env: "TIDEMARK_OIDC_SCOPES",
    default: "openid email profile",
    help: "What the provider is asked to tell, with openid among the words.",
  }),
  oidcDomains: list({
    env: "TIDEMARK_OIDC_DOMAINS",
    default: [],
    itemPattern: /^[A-Za-z0-9.-]+$/,
    help: "Domains of the e-mail addresses that may sign in by OpenID Connect; empty: all that the provider lets in.",
  }),
  oidcTrustEmail: bool({
    env: "TIDEMARK_OIDC_TRUST_EMAIL",
    default: false,
    help: "Whether addresses count that the provider does not say it has verified. Only for providers at which nobody chooses their own address.",
  }),
  deletionGraceDays: sharedFields.deletionGraceDays,
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
