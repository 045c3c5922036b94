import { Button } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, dataOf } from '../api/client.ts'
import { itemsOf, projectsQuery } from '../api/queries.ts'
import { statusQuery } from '../api/status-query.ts'
import { ConfirmDialog } from '../components/confirm-dialog.tsx'
import { CopyBlock } from '../components/copy-block.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { SecretDialog } from '../components/secret-dialog.tsx'
import { useMutation } from '../components/use-mutation.ts'
import { isolate } from '../lib/isolate.ts'
import { sumOf } from '../lib/sum.ts'
import { useOpened } from '../navigation/use-opened.ts'
import { FailingBadge } from '../overview/failing-badge.tsx'
import { PipeFailure } from '../overview/pipe-failure.tsx'
import { ItemControls } from './item-controls.tsx'
import { PageHeader } from './page-header.tsx'
import { Row, Rows } from './rows.tsx'
import { sourceCurl } from './source-curl.ts'
import { SourceEditor } from './source-editor.tsx'
import { disabledText } from './source-off.tsx'
import { type Source, type SourceWithSecret, sourceQuery, sourcesQuery } from './source-queries.ts'
import { SourceRotation } from './source-rotation.tsx'
import { useSourceSwitch } from './use-source-switch.ts'

/** What is in the address of the editor, beside its name. */
const WITHIN_EDITOR = ['preset', 'delivery']

/** As many as the service returns. */
const failingQuery = statusQuery({ kind: ['source'], state: ['failing'], perState: 100 })

/** Sources: other systems whose JSON becomes tasks. */
export default function SourcesPage() {
  const query = useInfiniteQuery(sourcesQuery)
  const editor = useOpened('source', WITHIN_EDITOR)
  const rotation = useOpened('rotate')
  const [created, setCreated] = useState<{ source: SourceWithSecret; example?: string | undefined }>()
  const sources = itemsOf(query.data)
  const openId = [editor.opened, rotation.opened].find((id) => id && id !== 'new')
  // A link may name one that is not among the loaded ones.
  const isElsewhere = openId !== undefined && query.isSuccess && !sources.some(({ id }) => id === openId)
  const { data: linked } = useQuery({ ...sourceQuery(openId ?? ''), enabled: isElsewhere })
  const sourceOf = (id: string | undefined) =>
    sources.find((source) => source.id === id) ?? (linked?.id === id ? linked : undefined)
  const edited = sourceOf(editor.opened)
  const rotated = sourceOf(rotation.opened)
  const isEditing = edited !== undefined || editor.opened === 'new'
  const isEmpty = query.isSuccess && sources.length === 0
  const add = <Button onClick={() => editor.open('new')}>Add a source</Button>
  return (
    <>
      {isEditing ? (
        <SourceEditor
          key={editor.opened}
          source={edited}
          onClose={editor.close}
          onCreated={(source, example) => {
            void editor.close()
            setCreated({ source, example: example && sourceCurl(source, example.payload) })
          }}
        />
      ) : (
        <>
          <PageHeader title="Sources" action={!isEmpty && add}>
            A source is a URL that another system, such as an error tracker or a survey tool, sends JSON to.
            You say by an example which tasks it becomes.
          </PageHeader>
          <MoreFailing />
          <Rows
            label="sources"
            query={query}
            queryKey={sourcesQuery.queryKey}
            empty={
              <EmptyState
                title="No sources yet"
                description="Start from a preset, or paste what your system sends, and click the values to use."
                action={add}
              />
            }
          >
            {sources.map((source) => (
              <SourceItem
                key={source.id}
                source={source}
                onEdit={() => editor.open(source.id)}
                onRotate={() => rotation.open(source.id)}
              />
            ))}
          </Rows>
        </>
      )}
      {rotated && (
        <SourceRotation
          key={rotated.id}
          source={rotated}
          onClose={rotation.close}
          onRotated={(source) => setCreated({ source })}
        />
      )}
      {created && (
        <SecretDialog
          title={`Secret of “${isolate(created.source.name)}”`}
          secret={created.source.secret}
          {...(created.example && { example: created.example })}
          onStored={() => setCreated(undefined)}
        >
          <CopyBlock caption="URL for the sender:" text={created.source.url} />
        </SecretDialog>
      )}
    </>
  )
}

/** Says that more fail than are marked. */
function MoreFailing() {
  const { data: failing } = useQuery(failingQuery)
  const count = sumOf((failing?.counts ?? []).map(({ count }) => count))
  const marked = failing?.data.length ?? 0
  if (count <= marked) return null
  return (
    <p className="quiet small">
      {count.toLocaleString()} sources fail. The {marked} that began to fail last are marked.
    </p>
  )
}

interface SourceItemProps {
  source: Source
  onEdit(): void
  onRotate(): void
}

function SourceItem({ source, ...actions }: SourceItemProps) {
  const { data: projects } = useQuery(projectsQuery)
  const { refresh } = useMutation('sources', 'status')
  const { toggle, isBusy } = useSourceSwitch(source)
  const [isDeleting, setDeleting] = useState(false)
  const { id, name, isActive } = source
  const params = { path: { id } }
  const project = projects?.find((project) => project.id === source.projectId)
  const why = disabledText(source)
  const { data: failing } = useQuery(failingQuery)
  const failure = failing?.data.find((pipe) => pipe.id === id)

  return (
    <>
      <Row
        name={name}
        isOff={!isActive}
        beside={failure && <FailingBadge />}
        details={project?.name}
        actions={
          <ItemControls
            name={name}
            isActive={isActive}
            isBusy={isBusy}
            onToggle={() => void toggle()}
            deliveries={{ to: '/incoming', search: { sourceId: id } }}
            {...actions}
            onDelete={() => setDeleting(true)}
          />
        }
      >
        <code className="quiet">{source.url}</code>
        {why ? <div className="small">{why}</div> : failure && <PipeFailure pipe={failure} />}
      </Row>
      {isDeleting && (
        <ConfirmDialog
          title={`Delete “${isolate(name)}”?`}
          verb="Delete source"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            await dataOf(api.DELETE('/api/sources/{id}', { params }))
            await refresh()
          }}
        >
          Deliveries are rejected immediately.{' '}
          {source.mapping === 'feedback'
            ? 'Tasks are kept, and so are deliveries of feedback.'
            : 'Its deliveries are deleted, and tasks are kept.'}{' '}
          This can't be undone.
        </ConfirmDialog>
      )}
    </>
  )
}
