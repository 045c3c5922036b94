import { Badge, Button, Menu, Modal, Select, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { type List, listsQuery, type Project } from '../api/queries.ts'
import { NameDialog } from '../components/name-dialog.tsx'
import { useDraft } from '../components/use-draft.ts'
import { useIdempotentSend } from '../components/use-idempotent-send.ts'
import { useMutation } from '../components/use-mutation.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { RowMenu } from '../settings/row-menu.tsx'
import { Row, Rows } from '../settings/rows.tsx'
import { Section } from '../settings/section.tsx'

export function Lists({ project, mayWrite }: { project: Project; mayWrite: boolean }) {
  const query = useQuery(listsQuery(project.id))
  const { mutate, isBusy } = useMutation('lists')
  const sendOnce = useIdempotentSend(`list:${project.id}`)
  const [name = '', setName] = useDraft(`new-list:${project.id}`)
  const renaming = useOpened('rename')
  const { data: lists = [] } = query
  const renamed = lists.find(({ id }) => id === renaming.opened)
  const deleting = useOpened('delete')
  const deleted = lists.find(({ id, isDefault }) => id === deleting.opened && !isDefault)

  async function add(event: FormEvent) {
    event.preventDefault()
    const body = { name: name.trim() }
    const path = { id: project.id }
    const added = await mutate("Couldn't add the list", () =>
      sendOnce(body, (header) =>
        dataOf(api.POST('/api/projects/{id}/lists', { params: { path, header }, body })),
      ),
    )
    if (added) setName(undefined)
  }
  const move = (list: List, position: number) =>
    void mutate("Couldn't move the list", () =>
      dataOf(api.PATCH('/api/lists/{id}', { params: { path: { id: list.id } }, body: { position } })),
    )

  return (
    <Section title="Lists" label="Lists">
      <Rows label="lists" query={query} queryKey={listsQuery(project.id).queryKey} isOrdered>
        {lists.map((list, index) => (
          <Row
            key={list.id}
            name={list.name}
            beside={list.isDefault && <Badge>Default</Badge>}
            actions={
              <>
                <span className="quiet small">{list.openCount.toLocaleString()} open</span>
                {mayWrite && (
                  <RowMenu of={list.name}>
                    <Menu.Item onClick={() => renaming.open(list.id)}>Rename</Menu.Item>
                    <Menu.Item disabled={index === 0} onClick={() => move(list, index - 1)}>
                      Move up
                    </Menu.Item>
                    <Menu.Item disabled={index + 1 === lists.length} onClick={() => move(list, index + 1)}>
                      Move down
                    </Menu.Item>
                    {!list.isDefault && (
                      <Menu.Item c="var(--red)" onClick={() => deleting.open(list.id)}>
                        Delete
                      </Menu.Item>
                    )}
                  </RowMenu>
                )}
              </>
            }
          />
        ))}
      </Rows>
      {mayWrite && (
        <form onSubmit={add} className="row">
          <TextInput
            aria-label="New list name"
            placeholder="Next release"
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.currentTarget.value || undefined)}
          />
          <Button type="submit" variant="default" loading={isBusy} disabled={name.trim() === ''}>
            Add list
          </Button>
        </form>
      )}
      {mayWrite && renamed && <RenameListDialog list={renamed} onClose={renaming.close} />}
      {mayWrite && deleted && (
        <DeleteListDialog
          list={deleted}
          others={lists.filter(({ id }) => id !== deleted.id)}
          onClose={deleting.close}
        />
      )}
    </Section>
  )
}

function RenameListDialog({ list: { id, name }, onClose }: { list: List; onClose(): void }) {
  const { mutate, isBusy } = useMutation('lists')
  const rename = (name: string) =>
    mutate("Couldn't rename the list", () =>
      dataOf(api.PATCH('/api/lists/{id}', { params: { path: { id } }, body: { name } })),
    )
  return (
    <NameDialog
      title="Rename list"
      verb="Rename"
      draftName={`list:${id}`}
      name={name}
      maxLength={100}
      isBusy={isBusy}
      onSave={rename}
      onClose={onClose}
    />
  )
}

/** Move its tasks to another list. */
function DeleteListDialog({ list, others, onClose }: { list: List; others: List[]; onClose(): void }) {
  const { mutate, isBusy } = useMutation('lists', 'tasks')
  const [moveTo, setMoveTo] = useState<string | null>(others.find(({ isDefault }) => isDefault)?.id ?? null)
  return (
    <Modal opened onClose={onClose} title={`Delete “${list.name}”?`}>
      <div className="stack">
        <Select
          label="Move its tasks to"
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
              onClose()
              await mutate("Couldn't delete the list", () =>
                dataOf(api.DELETE('/api/lists/{id}', { params: { path: { id: list.id }, query } })),
              )
            }}
          >
            Delete list
          </Button>
        </div>
      </div>
    </Modal>
  )
}
