/** The variables that say how messages are sent. */
export type MailConfig = {
  readonly mail: "log" | "smtp" | "off";
  readonly mailFrom: string | undefined;
  readonly smtpUrl: string | undefined;
  readonly smtpTls: "required" | "off";
};

/** A mail server, and the address that messages are from. */
export type SmtpSettings = {
  readonly host: string;
  readonly port: number;
  /** `start`: TLS from the first byte. `upgrade`: STARTTLS, without which nothing is sent. `none`: clear text. */
  readonly tls: "start" | "upgrade" | "none";
  /** Undefined for a server that asks for no sign-in. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
};

/** The ports of submission: with TLS from the start, and with STARTTLS (RFC 8314, section 3.3; RFC 6409, section 3.1). */
const submissionPorts = { "smtps:": 465, "smtp:": 587 } as const;

/** Returns the faults that only combinations of variables have. */
export function mailFaults({ mail, mailFrom, smtpUrl, smtpTls }: MailConfig): string[] {
  if (mail !== "smtp") {
    return smtpUrl === undefined && mailFrom === undefined
      ? []
      : ["TIDEMARK_SMTP_URL and TIDEMARK_MAIL_FROM need TIDEMARK_MAIL=smtp"];
  }
  const faults: string[] = [];
  if (mailFrom === undefined) faults.push("TIDEMARK_MAIL=smtp needs TIDEMARK_MAIL_FROM");
  if (smtpUrl === undefined) return [...faults, "TIDEMARK_MAIL=smtp needs TIDEMARK_SMTP_URL"];
  const { protocol, hostname, pathname, search, username, password } = new URL(smtpUrl);
  if (hostname === "") faults.push("TIDEMARK_SMTP_URL must name a server");
  if (!["", "/"].includes(pathname) || search !== "") faults.push("TIDEMARK_SMTP_URL must end after the server");
  if ((username === "") !== (password === "")) faults.push("TIDEMARK_SMTP_URL must have both a user and a password");
  if (smtpTls === "off" && protocol === "smtps:") faults.push("TIDEMARK_SMTP_TLS=off contradicts a URL with smtps://");
  if (smtpTls === "off" && password !== "") faults.push("TIDEMARK_SMTP_TLS=off would send the password in clear text");
  return faults;
}

/** Returns the mail server of an installation; undefined where no server is set. The settings have no faults. */
export function smtpSettingsOf({ mail, mailFrom, smtpUrl, smtpTls }: MailConfig): SmtpSettings | undefined {
  if (mail !== "smtp" || smtpUrl === undefined || mailFrom === undefined) return undefined;
  const { protocol, hostname, port, username, password } = new URL(smtpUrl);
  const isTls = protocol === "smtps:";
  return {
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: port === "" ? submissionPorts[isTls ? "smtps:" : "smtp:"] : Number(port),
    tls: isTls ? "start" : smtpTls === "off" ? "none" : "upgrade",
    login: username === "" ? undefined : { user: decodeURIComponent(username), password: decodeURIComponent(password) },
    from: mailFrom,
  };
}

/** What an invitation says. */
type Invitation = {
  readonly organizationName: string;
  readonly role: string;
  readonly link: string;
  readonly expiresAt: string;
};

/** Returns the subject and the plain text of an invitation. */
export function invitationText(invitation: Invitation): { subject: string; text: string } {
  const { organizationName, role, link, expiresAt } = invitation;
  const article = /^[aeiou]/.test(role) ? "an" : "a";
  return {
    subject: `Invitation to ${organizationName} on Tidemark`,
    text: [
      `You are invited to join the organization "${organizationName}" on Tidemark as ${article} ${role}.`,
      `Accept the invitation here:\n${link}`,
      `The link is for the address to which this message was sent, works once, and ends at ${expiresAt}.`,
      "If you do not know the organization, ignore this message.",
    ].join("\n\n"),
  };
}
