import type { Call } from "@tidemark/rpc";
import { newEmail, signIn, type Control } from "../control.fixture.ts";

/** Invites a person as the operator. */
export async function invite(control: Control, orgId: string, email = newEmail(), role = "") {
  const { sent } = await control.client.createInvitation(
    { orgId, email, role, baseUrl: "http://127.0.0.1:8080" },
    control.operator,
  );
  return { id: sent!.invitation!.id, email, token: sent!.previewLink.split("token=")[1]!, sent: sent! };
}

/** Signs in a person who may not be a user yet. */
export async function visit(control: Control, email: string): Promise<{ token: string; userId: string; call: Call }> {
  const { token, view } = await signIn(control, { email });
  return { token, userId: view!.user!.id, call: await control.as(token) };
}

/** Accepts an invitation as the person with an address. */
export async function accept(control: Control, email: string, token: string) {
  return control.client.acceptInvitation({ token }, (await visit(control, email)).call);
}
