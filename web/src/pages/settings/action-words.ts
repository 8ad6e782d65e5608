/** Returns an action of the audit log (`api_key.created`) as a person says it (`API key created`). */
export function actionWords(action: string): string {
  const text = action.replaceAll(/[._]/g, " ").replace(/^api key/, "API key");
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
