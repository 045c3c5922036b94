/** The URL that clients use for this service: the configured one, else the one of the request. */
export const baseUrlOf = (
  { protocol, host }: { protocol: string; host: string },
  publicUrl: string | undefined,
): string => publicUrl ?? `${protocol}://${host}`
