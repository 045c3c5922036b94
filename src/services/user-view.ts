import type { UserRow } from '../repositories/people/users.ts'
import type { User } from '../schemas/user.ts'

export const toUser = (row: UserRow): User => ({
  id: row.id,
  username: row.username,
  name: row.name,
  email: row.email,
  role: row.role,
  projectIds: row.projectIds,
  isActive: row.isActive,
  lastSeenAt: row.lastSeenAt?.toISOString() ?? null,
  createdAt: row.createdAt.toISOString(),
})
