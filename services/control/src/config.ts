import { bool, defineConfig, list, secret, sharedFields, text, url } from "@tidemark/host/config";

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
    oneOf: ["log", "smtp", "off"],
    help: "How invitations are sent: smtp by a mail server; log gives the link to the person who invites; off refuses invitations.",
  }),
  mailFrom: text({
    env: "TIDEMARK_MAIL_FROM",
    optional: true,
    pattern: /^[^\s@<>",;:]+@[^\s@<>",;:]+$/,
    help: "The address that messages are from.",
  }),
  smtpUrl: secret({
    env: "TIDEMARK_SMTP_URL",
    optional: true,
    schemes: ["smtp", "smtps"],
    help: "The mail server: smtps://user:password@host has TLS from the start (port 465), smtp:// changes to it by STARTTLS (port 587). User and password are percent-encoded. NODE_EXTRA_CA_CERTS names the file of a certificate authority of your own.",
  }),
  smtpTls: text({
    env: "TIDEMARK_SMTP_TLS",
    default: "required",
    oneOf: ["required", "off"],
    help: "Whether smtp:// has to change to TLS before anything is sent. Off is for a server without a sign-in, on this machine or in a closed network.",
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
  oidcDomains: list({
    env: "TIDEMARK_OIDC_DOMAINS",
    default: [],
    itemPattern: /^[A-Za-z0-9.-]+$/,
    help: "Domains of the e-mail addresses that may sign in by OpenID Connect; empty: all that the provider lets in.",
  }),
  oidcTrustEmail: bool({
    env: "TIDEMARK_OIDC_TRUST_EMAIL",
    default: false,
    help: "Whether to accept addresses that the provider does not mark as verified. Only for providers whose users cannot choose their own address.",
  }),
  deletionGraceDays: sharedFields.deletionGraceDays,
  limits: sharedFields.limits,
  removalSeconds: sharedFields.removalSeconds,
  plansFile: sharedFields.plansFile,
});
