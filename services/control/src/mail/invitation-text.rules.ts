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
