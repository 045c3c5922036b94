import type { IncomingHttpHeaders } from 'node:http'
import { credentialsIn, isSecretOf, isSignedBy, mayHaveCredentials } from '../../domain/sources/signature.ts'
import { invalidSender, missingSender, secretUnreadable } from '../../errors/index.ts'
import type { Clock } from '../../lib/clock.ts'
import { everywhere, type Repositories } from '../../repositories/index.ts'
import { isUuid } from '../../schemas/formats.ts'
import { type LogFailure, SECRET_UNREADABLE } from '../codehost/failures.ts'
import type { SourceTarget } from './receiving.ts'
import type { SourceSecrets } from './secrets.ts'

/** Who a delivery is from, as far as its headers tell. */
export interface SourceSender {
  target: SourceTarget
  /** Verifies the body as it was received; absent if the headers have decided. */
  isSigned?: (body: Buffer) => boolean
}

export type SourceSenders = ReturnType<typeof sourceSenders>

interface SendersDeps {
  repos: Repositories
  clock: Pick<Clock, 'now'>
  secrets: Pick<SourceSecrets, 'validOf'>
  logFailure?: LogFailure | undefined
}

/** Finds out who a delivery is from. */
export function sourceSenders({ repos, clock, secrets, logFailure }: SendersDeps) {
  const { sources } = repos.within(everywhere)

  return {
    /**
     * Decides what the headers of a delivery decide.
     * @throws missing_credentials, invalid_credentials; `isSigned` throws unavailable if a secret cannot be decrypted
     */
    async find(sourceId: string, headers: IncomingHttpHeaders): Promise<SourceSender> {
      const source = isUuid(sourceId) ? await sources.find(sourceId) : undefined
      const now = clock.now()
      const sent = source && credentialsIn(headers, { verification: source, now })
      if (!sent && !mayHaveCredentials(headers)) throw missingSender()
      if (!sent || !source.isActive) throw invalidSender()
      const { texts, isComplete } = secrets.validOf(source, now)
      if (sent.kind !== 'secret') {
        return {
          target: source,
          isSigned(body) {
            if (isSignedBy(sent, { body, secrets: texts })) return true
            if (isComplete) return false
            const about = { code: SECRET_UNREADABLE, projectId: source.projectId, sourceId }
            logFailure?.(about, 'delivery of a source failed')
            throw secretUnreadable()
          },
        }
      }
      if (!isSecretOf(sent.text, texts)) throw invalidSender()
      return { target: source }
    },
  }
}
