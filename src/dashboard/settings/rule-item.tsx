import { Badge, Menu, NumberInput, Switch } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, dataOf, type Schema } from '../api/client.ts'
import { projectsQuery, type Rule } from '../api/queries.ts'
import { isEnter } from '../components/is-enter.ts'
import { offerUndo, undoRequest } from '../components/undo.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { createChangeQueue } from '../lib/change-queue.ts'
import { firstCharacters } from '../lib/first-characters.ts'
import { Markdown } from '../markdown/markdown.tsx'
import { RowMenu } from './row-menu.tsx'
import { Row } from './rows.tsx'
import styles from './settings.module.css'

interface RuleItemProps {
  rule: Rule
  mayWrite: boolean
  onEdit(): void
  onHistory(): void
}

export function RuleItem({ rule, mayWrite, onEdit, onHistory }: RuleItemProps) {
  const { mutate, refresh } = useMutation('rules', 'context')
  const [changes] = useState(() => createChangeQueue(rule))
  changes.update(rule)
  const { data: projects } = useQuery(projectsQuery)
  const [priority, setPriority] = useState<number | string>(rule.priority)
  useEffect(() => setPriority(rule.priority), [rule.priority])
  const excerpt = firstCharacters(rule.content, 60)
  const path = { id: rule.id }

  const change = (body: Schema<'RuleChange'>) =>
    mutate("Couldn't update the instruction", () =>
      changes.send(({ version }) =>
        dataOf(
          api.PATCH('/api/rules/{id}', { params: { path, header: { 'if-match': `"${version}"` } }, body }),
        ),
      ),
    )

  async function remove() {
    const isDeleted = await mutate("Couldn't delete the instruction", async () => {
      await dataOf(api.DELETE('/api/rules/{id}', { params: { path } }))
      return true
    })
    if (!isDeleted) return
    offerUndo(
      undoRequest('Instruction deleted', async () => {
        await dataOf(api.POST('/api/rules/{id}/restore', { params: { path } }))
        await refresh()
      }),
    )
  }

  return (
    <Row
      isOff={!rule.isActive}
      start={
        <NumberInput
          aria-label={`Priority of “${excerpt}”`}
          value={priority}
          readOnly={!mayWrite}
          hideControls
          w={56}
          size="xs"
          onChange={setPriority}
          onBlur={() =>
            typeof priority === 'number' && priority !== rule.priority && void change({ priority })
          }
          onKeyDown={(event) => isEnter(event) && event.currentTarget.blur()}
        />
      }
      beside={
        <div className={styles.rule}>
          <Markdown text={rule.content.length > 600 ? `${rule.content.slice(0, 600)}…` : rule.content} />
        </div>
      }
      actions={
        <>
          <Switch
            checked={rule.isActive}
            disabled={!mayWrite}
            aria-label={`“${excerpt}” is active`}
            onChange={(event) => void change({ isActive: event.currentTarget.checked })}
          />
          <RowMenu of={`“${excerpt}”`}>
            {mayWrite && <Menu.Item onClick={onEdit}>Edit</Menu.Item>}
            <Menu.Item onClick={onHistory}>History</Menu.Item>
            {mayWrite && (
              <Menu.Item c="var(--red)" onClick={() => void remove()}>
                Delete
              </Menu.Item>
            )}
          </RowMenu>
        </>
      }
    >
      <div className="row row-wrap">
        <Badge size="sm">
          {rule.projectId
            ? (projects?.find(({ id }) => id === rule.projectId)?.name ?? 'One project')
            : 'All projects'}
        </Badge>
        {rule.paths.map((glob) => (
          <Badge key={glob} variant="outline" size="sm">
            <code>{glob}</code>
          </Badge>
        ))}
        {!rule.isActive && <span className="quiet small">Inactive</span>}
      </div>
    </Row>
  )
}
