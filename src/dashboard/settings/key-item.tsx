import { Badge, Menu } from '@mantine/core'
import type { Schema } from '../api/client.ts'
import { serverNow } from '../api/server-clock.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { LastTime } from './last-time.tsx'
import { RowMenu } from './row-menu.tsx'
import { Row } from './rows.tsx'

interface KeyItemProps {
  apiKey: Schema<'ApiKey'>
  /** The name of the project that it is bound to. */
  project: string | undefined
  /** Whether it is a personal key of who looks at it. */
  isOwn: boolean
  onRotate(): void
  onRevoke(): void
}

export function KeyItem({ apiKey: key, project, isOwn, onRotate, onRevoke }: KeyItemProps) {
  const isOfOther = key.userId !== null && !isOwn
  const isExpired = key.expiresAt !== null && Date.parse(key.expiresAt) < serverNow()
  return (
    <Row
      name={key.name}
      isOff={isExpired}
      beside={
        <>
          <code className="quiet">
            {key.prefix && `inl_${key.prefix}_`}…{key.lastFour}
          </code>
          {isOfOther && <Badge>Personal key</Badge>}
          {project && <Badge>{project} only</Badge>}
        </>
      }
      details={
        <>
          {key.scopes.join(', ')}
          {key.createdBy && !isOwn && ` · created by ${key.createdBy.name}`} ·{' '}
          <LastTime verb="used" dateTime={key.lastUsedAt} />
          {key.expiresAt && (
            <>
              {' '}
              · {isExpired ? 'expired' : 'expires'} <RelativeTime dateTime={key.expiresAt} />
            </>
          )}
          {key.previousSecretExpiresAt && Date.parse(key.previousSecretExpiresAt) > serverNow() && (
            <>
              {' '}
              · previous secret expires <RelativeTime dateTime={key.previousSecretExpiresAt} />
            </>
          )}
        </>
      }
      actions={
        <RowMenu of={key.name}>
          {!isOfOther && <Menu.Item onClick={onRotate}>Rotate secret (old one works for 24 hours)</Menu.Item>}
          <Menu.Item c="var(--red)" onClick={onRevoke}>
            Revoke
          </Menu.Item>
        </RowMenu>
      }
    />
  )
}
