import { Select, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { SearchIcon } from '@primer/octicons-react'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { projectsQuery } from '../api/queries.ts'
import { useSources } from '../settings/use-sources.ts'
import { OUTCOMES } from './delivery-text.ts'
import styles from './incoming.module.css'
import { RECEIVERS, useIncomingFilter } from './use-incoming-filter.ts'

const DEBOUNCE_MS = 250
/** As long as an ID that is stored. */
const MAX_ID = 255
/** Others are found by typing. */
const MAX_OPTIONS = 100

const DOORS = Object.entries(RECEIVERS).map(([value, label]) => ({ value, label }))

/** By the door that it came through, its project, its outcome, and the sender's ID. */
export function IncomingFilters() {
  const { filter, change } = useIncomingFilter()
  const { data: projects = [] } = useQuery(projectsQuery)
  const sources = useSources()
  const namedSources = sources.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <search className={styles.filters}>
      <Select
        aria-label="Way in"
        placeholder="All ways in"
        data={[...DOORS, ...(namedSources.length > 0 ? [{ group: 'Sources', items: namedSources }] : [])]}
        limit={MAX_OPTIONS}
        searchable={sources.length > 0}
        clearable
        value={filter.sourceId ?? filter.receiver ?? null}
        onChange={(door) => {
          const isSource = sources.some(({ id }) => id === door)
          change({
            receiver: isSource ? undefined : (door ?? undefined),
            sourceId: isSource ? (door ?? undefined) : undefined,
          })
        }}
      />
      <Select
        aria-label="Project"
        placeholder="All projects"
        data={projects.map(({ id, name }) => ({ value: id, label: name }))}
        limit={MAX_OPTIONS}
        searchable
        clearable
        value={filter.projectId ?? null}
        onChange={(projectId) => change({ projectId: projectId ?? undefined })}
      />
      <Select
        aria-label="Outcome"
        placeholder="All outcomes"
        data={Object.entries(OUTCOMES).map(([value, label]) => ({ value, label }))}
        clearable
        value={filter.outcome ?? null}
        onChange={(outcome) => change({ outcome: outcome ?? undefined })}
      />
      <SenderIdInput senderId={filter.senderId ?? ''} onChange={(senderId) => change({ senderId })} />
    </search>
  )
}

interface SenderIdInputProps {
  senderId: string
  onChange(senderId: string | undefined): void
}

function SenderIdInput({ senderId, onChange }: SenderIdInputProps) {
  const [text, setText] = useState(senderId)
  const sent = useRef(senderId)
  const send = useDebouncedCallback((id: string) => {
    sent.current = id
    onChange(id || undefined)
  }, DEBOUNCE_MS)
  useEffect(() => {
    // A link, or Back, has changed it.
    if (senderId === sent.current) return
    sent.current = senderId
    setText(senderId)
  }, [senderId])
  return (
    <TextInput
      type="search"
      aria-label="Sender’s ID"
      placeholder="Sender’s ID"
      leftSection={<SearchIcon size={15} />}
      maxLength={MAX_ID}
      spellCheck={false}
      value={text}
      onChange={({ currentTarget: { value } }) => {
        setText(value)
        send(value.trim())
      }}
    />
  )
}
