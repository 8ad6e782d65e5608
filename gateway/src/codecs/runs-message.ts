/** A message field that the service always sets; protobuf cannot say so. @throws Error when it is missing */
export function requireMessage<T>(message: T | undefined): T {
  if (message === undefined) throw new Error("a service left out a message that it owes");
  return message;
}
