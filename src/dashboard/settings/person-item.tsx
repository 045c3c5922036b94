import { Badge, Menu } from '@mantine/core'
import type { Project } from '../api/queries.ts'
import { useMe } from '../session/session.ts'
import { LastTime } from './last-time.tsx'
import { projectsText, ROLES, type User } from './people-text.ts'
import { RowMenu } from './row-menu.tsx'
import { Row } from './rows.tsx'

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
    <Row
      name={user.name}
      isOff={!user.isActive}
      beside={
        <>
          <code className="quiet">{user.username}</code>
          <Badge>{ROLES[user.role].label}</Badge>
          {isMe && <Badge>You</Badge>}
          {!user.isActive && <Badge>Deactivated</Badge>}
        </>
      }
      details={
        <>
          {projectsText(user.projectIds, projects)}
          {user.email && ` · ${user.email}`} · <LastTime verb="seen" dateTime={user.lastSeenAt} />
        </>
      }
      actions={
        <RowMenu of={user.name}>
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
        </RowMenu>
      }
    />
  )
}
