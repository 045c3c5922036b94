import { versionMismatch } from '../errors/index.ts'

/** The versions an `If-Match` names; undefined when the caller does not care. */
export type AllowedVersions = number[] | undefined

/** @throws version_mismatch when it has changed since the caller read it. */
export function refuseStale(allowed: AllowedVersions, ...current: Parameters<typeof versionMismatch>): void {
  if (allowed && !allowed.includes(current[0])) throw versionMismatch(...current)
}
