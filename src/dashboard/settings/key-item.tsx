import { ActionIcon, Badge, Menu } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import type { Schema } from '../api/client.ts'
import { serverNow } from '../api/server-clock.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import styles from './settings.module.css'

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
    <li className={`${styles.item} ${isExpired ? styles.off : ''}`}>
      <div className={styles.main}>
        <div className="row row-wrap">
          <strong>{key.name}</strong>
          <code className="quiet">
            {key.prefix && `inl_${key.prefix}_`}…{key.lastFour}
          </code>
          {isOfOther && (
            <Badge variant="default" tt="none">
              Personal key
            </Badge>
          )}
          {project && (
            <Badge variant="default" tt="none">
              {project} only
            </Badge>
          )}
        </div>
        <div className="quiet small">
          {key.scopes.join(', ')}
          {key.createdBy && !isOwn && ` · created by ${key.createdBy.name}`} ·{' '}
          {key.lastUsedAt ? (
            <>
              used <RelativeTime dateTime={key.lastUsedAt} />
            </>
          ) : (
            'never used'
          )}
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
        </div>
      </div>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`Actions for ${key.name}`}>
            <KebabHorizontalIcon size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!isOfOther && <Menu.Item onClick={onRotate}>Rotate secret (old one works for 24 hours)</Menu.Item>}
          <Menu.Item c="var(--red)" onClick={onRevoke}>
            Revoke
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </li>
  )
}
