import { describe, expect, test } from 'vitest'
import type { Project } from '../../../src/dashboard/api/queries.ts'
import { inviteUrl, projectsText } from '../../../src/dashboard/settings/people-text.ts'
import { settingsPages } from '../../../src/dashboard/settings/settings-pages.ts'

// Casts: the texts read nothing else.
const projects = [
  { id: 'b', name: 'Website' },
  { id: 'a', name: 'Mobile app' },
] as Project[]
const invite = { userId: null, secret: 'abc', url: null } as Parameters<typeof inviteUrl>[0]

describe('the projects of a person', () => {
  test('are named in the order of the alphabet, and all of them are “All projects”', () => {
    expect(projectsText(['b', 'a'], projects)).toBe('Mobile app, Website')
    expect(projectsText(null, projects)).toBe('All projects')
  })

  test('are counted where they cannot be seen', () => {
    expect(projectsText(['a', 'c', 'd'], projects)).toBe('Mobile app, 2 more')
  })
})

describe('the link of an invite', () => {
  test('is that of the service, or begins with the address of the page', () => {
    const url = 'https://inlet.example.com/invite#abc'
    expect(inviteUrl({ ...invite, url }, 'http://localhost:3000')).toBe(url)
    expect(inviteUrl(invite, 'http://localhost:3000')).toBe('http://localhost:3000/invite#abc')
  })

  test('for a lost password leads to another page', () => {
    const link = inviteUrl({ ...invite, userId: 'ada' }, 'http://localhost:3000')
    expect(link).toBe('http://localhost:3000/new-password#abc')
  })
})

describe('the pages of the settings', () => {
  const labelsOf = (access: Parameters<typeof settingsPages>[0]) =>
    settingsPages(access).map(({ label }) => label)

  test('are those of the account for people alone, and of people for owners alone', () => {
    const member = labelsOf({ isPerson: true, isAdmin: false, isServiceWide: true })
    expect(member).toEqual(['Account', 'Sessions', 'AI instructions', 'Import and export'])
    expect(labelsOf({ isPerson: true, isAdmin: true, isServiceWide: true })).toContain('People')
    const bound = labelsOf({ isPerson: false, isAdmin: true, isServiceWide: false })
    expect([bound.includes('Account'), bound.includes('People')]).toEqual([false, false])
  })
})
