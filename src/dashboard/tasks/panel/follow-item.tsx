import { Menu } from '@mantine/core'
import { BellIcon, BellSlashIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { api, dataOf } from '../../api/client.ts'
import { followQuery } from '../../api/notification-queries.ts'
import { useMutation } from '../../components/use-mutation.ts'
import { useMe } from '../../session/session.ts'

/** Starts or stops to tell the person who is signed in of new comments. */
export function FollowItem({ taskId: id }: { taskId: string }) {
  const { me } = useMe()
  const { data } = useQuery({ ...followQuery(id), enabled: Boolean(me?.user) })
  const { mutate } = useMutation('follow')
  if (!me?.user) return null
  const params = { path: { id } }
  const isFollowing = data?.isFollowing ?? false
  const follow = () =>
    mutate("Couldn't follow the task", () => dataOf(api.PUT('/api/tasks/{id}/follow', { params })))
  const unfollow = () =>
    mutate("Couldn't unfollow the task", () => dataOf(api.DELETE('/api/tasks/{id}/follow', { params })))
  return (
    <Menu.Item
      leftSection={isFollowing ? <BellSlashIcon size={16} /> : <BellIcon size={16} />}
      disabled={data === undefined}
      onClick={() => void (isFollowing ? unfollow() : follow())}
    >
      {isFollowing ? 'Unfollow' : 'Follow'}
    </Menu.Item>
  )
}
