/** An invitation as a message to somebody who may not be a user yet. */
export type InvitationMessage = {
  readonly to: string;
  readonly organizationName: string;
  readonly role: string;
  /** Where the invited person accepts; carries the token. */
  readonly link: string;
  readonly expiresAt: string;
  readonly invitationId: string;
  readonly orgId: string;
};

/** How messages reach people. Which driver works behind it is a setting. */
export type Mail = {
  /** False: nothing can be sent, and whoever wants to is told so at once. */
  readonly available: boolean;
  /**
   * Sends an invitation. `previewLink` comes from drivers that reach no mailbox: the inviting person
   * hands it on. Throws when the message was not taken.
   */
  sendInvitation(message: InvitationMessage): Promise<{ previewLink?: string }>;
};
