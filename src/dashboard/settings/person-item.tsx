import { ActionIcon, Badge, Menu } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import type { Project } from '../api/queries.ts'
import { RelativeTime } from '../components/relative-time.tsx'
import { useMe } from '../session/session.ts'
import { projectsText, ROLES, type User } from './people-text.ts'
import styles from './settings.module.css'

interface PersonItemProps {
  user: User
  projects: Project[]
  onChangeAccess(): void
  onNewPassword(): void
  onDeactivate(): void
  onReactivate(): void
}

export function PersonItem({ user, projects, ...actions }: PersonItemProps) {
  const { me } = useMe()
  const isMe = me?.user?.id === user.id
  return (
    <li className={`${styles.item} ${user.isActive ? '' : styles.off}`}>
      <div className={styles.main}>
        <div className="row row-wrap">
          <strong>{user.name}</strong>
          <code className="quiet">{user.username}</code>
          <Badge variant="default" tt="none">
            {ROLES[user.role].label}
          </Badge>
          {isMe && (
            <Badge variant="default" tt="none">
              you
            </Badge>
          )}
          {!user.isActive && (
            <Badge variant="default" tt="none">
              deactivated
            </Badge>
          )}
        </div>
        <div className="quiet small">
          {projectsText(user.projectIds, projects)}
          {user.email && ` · ${user.email}`} ·{' '}
          {user.lastSeenAt ? (
            <>
              last seen <RelativeTime dateTime={user.lastSeenAt} />
            </>
          ) : (
            'never seen'
          )}
        </div>
      </div>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon aria-label={`Actions for ${user.name}`}>
            <KebabHorizontalIcon size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={actions.onChangeAccess}>Change role and projects</Menu.Item>
          {user.isActive ? (
            <>
              <Menu.Item onClick={actions.onNewPassword}>New password</Menu.Item>
              <Menu.Item c="var(--red)" onClick={actions.onDeactivate}>
                Deactivate
              </Menu.Item>
            </>
          ) : (
            <Menu.Item onClick={actions.onReactivate}>Reactivate</Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
    </li>
  )
}
