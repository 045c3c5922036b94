import { AppError } from './app-error.ts'

/** @param contents what the instance has, as text: tasks, rules. */
export const importNotEmpty = (contents: string[]) =>
  new AppError('import_not_empty', {
    detail: `This instance already has ${contents.join(', ')}. Import into a new instance.`,
  })

export const importInProgress = () =>
  new AppError('import_in_progress', {
    detail:
      'An import is in progress. Nothing else can be changed until it ends. Send the request again later.',
    retryAfterSeconds: 10,
  })

export const importStalled = () =>
  new AppError('request_timeout', {
    detail: 'The body stopped arriving, so nothing was imported. Send the request again.',
  })

export const tooManyExports = (limit: number) =>
  new AppError('rate_limited', {
    detail: `At most ${limit} exports can run at the same time. Send the request again later.`,
    retryAfterSeconds: 30,
  })
