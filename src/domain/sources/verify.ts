import { type FieldError, validationFailed } from '../../errors/index.ts'
import type { SourceTemplate, Verify } from '../../schemas/source.ts'

/**
 * The schemes that read a header of the sender's need its name; the others have headers of their own.
 * @throws validation_failed
 */
export function refuseVerify({ scheme, header, prefix }: Verify): void {
  const errors: FieldError[] = []
  const needsHeader = scheme === 'hmac_sha256_hex' || scheme === 'token'
  if (needsHeader && !header) {
    errors.push({ path: '/verify/header', code: 'required', message: `is required for ${scheme}` })
  }
  if (!needsHeader) {
    for (const [name, value] of Object.entries({ header, prefix }))
      if (value) {
        const message = `is not supported for ${scheme}`
        errors.push({ path: `/verify/${name}`, code: 'not_allowed', message })
      }
  }
  if (errors.length > 0) throw validationFailed(errors)
}

/** All members, null where there is no template. */
export function toTemplate(given: SourceTemplate | null | undefined): Required<SourceTemplate> | null {
  if (!given) return null
  const { title, description = null, priority = null, labels = null } = given
  const { externalId = null, externalUrl = null, status = null } = given
  return { title, description, priority, labels, externalId, externalUrl, status }
}
