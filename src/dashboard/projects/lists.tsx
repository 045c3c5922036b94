import { ActionIcon, Badge, Button, Menu, Modal, Select, Skeleton, TextInput } from '@mantine/core'
import { KebabHorizontalIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type List, listsQuery, type Project } from '../api/queries.ts'
import { NotLoaded } from '../components/load-error.tsx'
import { useSendOnce } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'
import styles from '../settings/settings.module.css'

/** The lists of a project, in their order. */
export function Lists({ project, mayWrite }: { project: Project; mayWrite: boolean }) {
  const query = useQuery(listsQuery(project.id))
  const { act, isBusy } = useMutation('lists')
  const sendOnce = useSendOnce(`list:${project.id}`)
  const [name, setName] = useState('')
  const [renaming, setRenaming] = useState<List>()
  const [removing, setRemoving] = useState<List>()

  async function add(event: FormEvent) {
    event.preventDefault()
    const body = { name: name.trim() }
    const path = { id: project.id }
    const added = await act('The list was not added', () =>
      sendOnce(body, (header) =>
        dataOf(api.POST('/api/projects/{id}/lists', { params: { path, header }, body })),
      ),
    )
    if (added) setName('')
  }
  const move = (list: List, position: number) =>
    void act('The list was not moved', () =>
      dataOf(api.PATCH('/api/lists/{id}', { params: { path: { id: list.id } }, body: { position } })),
    )

  return (
    <section className={styles.section} aria-label="Lists">
      <h2>Lists</h2>
      {query.isPending && <Skeleton height={100} />}
      {query.isError && <NotLoaded what="The lists" query={query} />}
      <ol className={styles.rows}>
        {query.data?.map((list, index) => (
          <li key={list.id} className={styles.item}>
            <div className={`${styles.main} row`}>
              <span>{list.name}</span>
              {list.isDefault && (
                <Badge variant="default" tt="none">
                  default
                </Badge>
              )}
            </div>
            <span className="quiet small">{list.openCount.toLocaleString()} open</span>
            {mayWrite && (
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon aria-label={`What to do with ${list.name}`}>
                    <KebabHorizontalIcon size={18} />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item onClick={() => setRenaming(list)}>Rename</Menu.Item>
                  <Menu.Item disabled={index === 0} onClick={() => move(list, index - 1)}>
                    Move up
                  </Menu.Item>
                  <Menu.Item disabled={index + 1 === query.data.length} onClick={() => move(list, index + 1)}>
                    Move down
                  </Menu.Item>
                  {!list.isDefault && (
                    <Menu.Item c="var(--red)" onClick={() => setRemoving(list)}>
                      Delete
                    </Menu.Item>
                  )}
                </Menu.Dropdown>
              </Menu>
            )}
          </li>
        ))}
      </ol>
      {mayWrite && (
        <form onSubmit={add} className="row">
          <TextInput
            aria-label="Name of a new list"
            placeholder="Next release"
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button type="submit" variant="default" loading={isBusy} disabled={name.trim() === ''}>
            Add list
          </Button>
        </form>
      )}
      {renaming && <Rename list={renaming} onClose={() => setRenaming(undefined)} />}
      {removing && (
        <Remove
          list={removing}
          others={query.data?.filter(({ id }) => id !== removing.id) ?? []}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </section>
  )
}

function Rename({ list, onClose }: { list: List; onClose(): void }) {
  const { act, isBusy } = useMutation('lists')
  const [name, setName] = useState(list.name)
  return (
    <Modal opened onClose={onClose} title="Rename the list">
      <form
        className="stack"
        onSubmit={async (event) => {
          event.preventDefault()
          const renamed = await act('The list was not renamed', () =>
            dataOf(
              api.PATCH('/api/lists/{id}', {
                params: { path: { id: list.id } },
                body: { name: name.trim() },
              }),
            ),
          )
          if (renamed) onClose()
        }}
      >
        <TextInput
          label="Name"
          data-autofocus
          maxLength={100}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <div>
          <Button type="submit" loading={isBusy} disabled={name.trim() === ''}>
            Rename
          </Button>
        </div>
      </form>
    </Modal>
  )
}

/** A list goes; its tasks do not. */
function Remove({ list, others, onClose }: { list: List; others: List[]; onClose(): void }) {
  const { act, isBusy } = useMutation('lists', 'tasks')
  const [moveTo, setMoveTo] = useState<string | null>(others.find(({ isDefault }) => isDefault)?.id ?? null)
  return (
    <Modal opened onClose={onClose} title={`Delete “${list.name}”?`}>
      <div className="stack">
        <Select
          label="Its tasks move to"
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          value={moveTo}
          allowDeselect={false}
          onChange={setMoveTo}
        />
        <div>
          <Button
            color="red.8"
            loading={isBusy}
            onClick={async () => {
              const query = moveTo ? { moveTo } : {}
              await act('The list was not deleted', () =>
                dataOf(api.DELETE('/api/lists/{id}', { params: { path: { id: list.id }, query } })),
              )
              onClose()
            }}
          >
            Delete list
          </Button>
        </div>
      </div>
    </Modal>
  )
}
