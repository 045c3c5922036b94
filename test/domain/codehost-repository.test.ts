import { expect, test } from 'vitest'
import { repositoryNameOf } from '../../src/domain/codehost-repository.ts'

test.each([
  ['acme/app', 'acme/app'],
  ['acme/app.js', 'acme/app.js'],
  ['acme/.github', 'acme/.github'],
  ['Acme-Co/My_App', 'Acme-Co/My_App'],
  ['https://github.com/acme/app', 'acme/app'],
  ['http://git.example.com:8080/acme/app.git', 'acme/app'],
  ['git@github.com:acme/app.git', 'acme/app'],
  ['ssh://git@git.example.com:2222/acme/app.git', 'acme/app'],
])('%s is %s', (given, name) => {
  expect(repositoryNameOf(given)).toBe(name)
})

test.each([
  '',
  'acme',
  'acme/',
  'acme/..',
  'acme/.',
  './app',
  '../app',
  '-acme/app',
  'acme/app/x',
  'acme/a b',
  'acme/app?x',
  'acme/app#x',
  'acme@x/app',
  'acme/a@b',
  'acme/%2e',
  'https://github.com/acme',
  'https://github.com/acme/app/issues',
  'https://u:p@github.com/acme/app',
  'https://github.com/acme/app?x=1',
  'ftp://github.com/acme/app',
  `acme/${'x'.repeat(101)}`,
])('%j is no repository', (given) => {
  expect(repositoryNameOf(given)).toBeUndefined()
})
