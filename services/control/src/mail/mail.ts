/** The message of an invitation, to a person who may not be a user yet. */
export type InvitationMessage = {
  readonly to: string;
  readonly organizationName: string;
  readonly role: string;
  /** Address of the page where the invited person accepts; contains the token. */
  readonly link: string;
  readonly expiresAt: string;
  readonly invitationId: string;
  readonly orgId: string;
};

/** How messages reach people; a setting chooses the driver. */
export type Mail = {
  /** False when nothing can be sent; invitations are then refused before anything is stored. */
  readonly available: boolean;
  /**
   * Sends an invitation. Drivers that do not reach a mailbox return a `previewLink`, which the inviting person passes on.
   * Throws when the message was not accepted.
   */
  sendInvitation(message: InvitationMessage): Promise<{ previewLink?: string }>;
};
