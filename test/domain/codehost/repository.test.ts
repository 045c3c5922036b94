import { expect, test } from 'vitest'
import { isHostOf, repositoryOf } from '../../../src/domain/codehost/repository.ts'

test.each([
  ['acme/app', 'acme/app', null],
  ['acme/app.js', 'acme/app.js', null],
  ['acme/app.git', 'acme/app.git', null],
  ['acme/.github', 'acme/.github', null],
  ['Acme-Co/My_App', 'Acme-Co/My_App', null],
  [' https://GitHub.com/acme/app/ ', 'acme/app', 'github.com'],
  ['http://git.example.com:8080/acme/app.git', 'acme/app', 'git.example.com'],
  ['git@github.com:acme/app.git', 'acme/app', 'github.com'],
  ['ssh://git@git.example.com:2222/acme/app.git', 'acme/app', 'git.example.com'],
])('%s is %s at %s', (given, name, host) => {
  expect(repositoryOf(given)).toEqual({ name, host })
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
])('%j is not a repository', (given) => {
  expect(repositoryOf(given)).toBeUndefined()
})

test.each([
  ['https://api.github.com', 'github.com', true],
  ['https://api.github.com', 'www.github.com', true],
  ['https://api.github.com', 'ssh.github.com', true],
  ['https://api.github.com', 'gitlab.com', false],
  ['https://api.github.com', 'notgithub.com', false],
  ['https://api.acme.ghe.com', 'acme.ghe.com', true],
  ['https://git.example.com/api/v3', 'git.example.com', true],
  ['https://git.example.com/api/v3', 'github.com', false],
  ['http://127.0.0.1:8080', 'github.com', true],
  ['https://codehost.proxy.example', 'github.com', true],
])('%s is the API of %s: %s', (apiUrl, host, isOf) => {
  expect(isHostOf(apiUrl, host)).toBe(isOf)
})
