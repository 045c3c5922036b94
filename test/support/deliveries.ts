import type { TestApp } from './app.ts'

/** The deliveries that a query finds, newest first, each with its payload. */
export async function deliveriesOf(service: Pick<TestApp, 'get'>, query: string) {
  const { body } = await service.get(`/api/deliveries?${query}`)
  return Promise.all(body.data.map(({ id }: { id: string }) => deliveryOf(service, id)))
}

export const deliveryOf = async (service: Pick<TestApp, 'get'>, id: string) =>
  (await service.get(`/api/deliveries/${id}`)).body
