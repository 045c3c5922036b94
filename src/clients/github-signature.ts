import { verifyWithFallback } from '@octokit/webhooks-methods'

/** Whether a body was signed with one of these secrets. Compares in constant time. */
export async function isSignedWith(
  secrets: string[],
  { body, signature }: { body: Buffer; signature: string },
): Promise<boolean> {
  const [secret, ...others] = secrets
  // The library throws on an empty body, which no delivery has.
  if (secret === undefined || body.length === 0) return false
  return Boolean(await verifyWithFallback(secret, body.toString(), signature, others))
}
