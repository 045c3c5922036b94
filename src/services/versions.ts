import { versionMismatch } from '../errors/index.ts'

/** The versions in an `If-Match`; undefined if the request has none. */
export type AllowedVersions = number[] | undefined

/** @throws version_mismatch if the current version is not among the allowed ones. */
export function refuseStale(allowed: AllowedVersions, ...current: Parameters<typeof versionMismatch>): void {
  if (allowed && !allowed.includes(current[0])) throw versionMismatch(...current)
}
