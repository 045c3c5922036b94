import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { problemOf } from '../api/problem.ts'
import { deliveryQuery } from '../api/queries.ts'
import { toast } from '../components/toast.ts'
import { useDraft } from '../components/use-draft.ts'
import { parsedPayload } from './source-draft.ts'
import { type Example, latestPayloadQuery, payloadText, type SourcePreset } from './source-queries.ts'

const TEST_DELAY_MS = 250

interface ExampleSources {
  /** Of the draft. */
  name: string
  /** Whose latest delivery is the example. */
  sourceId: string | undefined
  /** Whose payload is the example, by the address. */
  deliveryId: string | undefined
  preset: SourcePreset | undefined
}

let versions = 0

/** The payload to write templates for: what was pasted or picked, else that of a delivery, else of the preset. */
export function useSourceExample({ name, sourceId, deliveryId, preset }: ExampleSources) {
  const client = useQueryClient()
  const latest = useQuery({ ...latestPayloadQuery(sourceId ?? ''), enabled: sourceId !== undefined })
  const linked = useQuery({
    ...deliveryQuery(deliveryId ?? ''),
    enabled: deliveryId !== undefined,
    retry: false,
  })
  const [own, setOwn] = useDraft(`${name}-payload`)
  const [isPickFailed, setPickFailed] = useState(false)
  const linkedText = linked.data && payloadText(linked.data)
  const ofPreset = useMemo(() => preset && JSON.stringify(preset.example, null, 2), [preset])
  const text = own ?? linkedText ?? ofPreset ?? latest.data ?? ''
  const [tested] = useDebouncedValue(text, TEST_DELAY_MS)
  const example = useMemo((): Example | undefined => {
    const parsed = parsedPayload(tested)
    return parsed && { ...parsed, version: ++versions }
  }, [tested])

  async function pick(id: string) {
    setPickFailed(false)
    try {
      const text = payloadText(await client.fetchQuery(deliveryQuery(id)))
      if (text === undefined) setPickFailed(true)
      else setOwn(text)
    } catch (error) {
      toast.problem("Couldn't load the delivery", problemOf(error))
    }
  }

  return {
    text,
    setText: setOwn,
    example,
    pick,
    isOwn: own !== undefined,
    discard: () => setOwn(undefined),
    /** Whether a delivery was asked for whose payload is not there. */
    isMissing: isPickFailed || (own === undefined && (linked.isError || (linked.isSuccess && !linkedText))),
    isLatest: own === undefined && text !== '' && text === latest.data,
  }
}
