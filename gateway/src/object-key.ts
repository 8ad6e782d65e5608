/** Returns the key of an object in the object store. */
export function objectKey(orgId: string, objectId: string): string {
  return `o/${orgId}/${objectId}`;
}
