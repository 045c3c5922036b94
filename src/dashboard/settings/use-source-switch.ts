import { api, dataOf } from '../api/client.ts'
import { useMutation } from '../components/use-mutation.ts'
import type { Source } from './source-queries.ts'

/** Turns a source on or off. */
export function useSourceSwitch({ id, isActive }: Pick<Source, 'id' | 'isActive'>) {
  const { mutate, isBusy } = useMutation('sources', 'status')
  const toggle = () =>
    mutate("Couldn't change the source", () =>
      dataOf(api.PATCH('/api/sources/{id}', { params: { path: { id } }, body: { isActive: !isActive } })),
    )
  return { toggle, isBusy }
}
