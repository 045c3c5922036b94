import { expect, test } from 'vitest'
import { ownAddress, pathOf } from '../../../src/dashboard/session/own-address.ts'

const ORIGIN = 'https://inlet.example'
const hrefOf = (next: unknown) => ownAddress(next, ORIGIN).href

test.each([
  ['/trash', '/trash'],
  ['/tasks?label=["a"]#notes', '/tasks?label=[%22a%22]#notes'],
  ['trash', '/trash'],
  ['https://inlet.example/trash', '/trash'],
  [undefined, '/'],
  [42, '/'],
  [['/trash'], '/'],
  ['https://', '/'],
])('%j leads to %s', (next, path) => {
  const to = ownAddress(next, ORIGIN)
  expect([to.href, pathOf(to)]).toEqual([ORIGIN + path, path])
})

test.each([
  '//evil.example',
  '\\evil.example',
  '\\\\evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  'https://evil.example',
  'https:evil.example',
  'http://inlet.example/trash',
  'https://inlet.example.evil.example',
  'https://inlet.example@evil.example',
  'https://inlet.example:444/trash',
  'javascript:alert(1)',
  'data:text/html,evil',
  'blob:https://inlet.example/evil',
])('%j does not lead elsewhere', (next) => {
  expect(hrefOf(next)).toMatch(/^https:\/\/inlet\.example\//)
})
