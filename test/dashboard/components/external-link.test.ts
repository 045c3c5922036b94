import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { expect, test } from 'vitest'
import { ExternalLink } from '../../../src/dashboard/components/external-link.tsx'

const rendered = (url: string | null) =>
  renderToStaticMarkup(createElement(ExternalLink, { url, children: 'ada' }))

test('an http or https address is a link', () => {
  for (const url of ['https://codehost.example/ada', 'HTTP://codehost.example/ada'])
    expect(rendered(url)).toBe(`<a href="${url}" target="_blank" rel="noreferrer noopener">ada</a>`)
})

test('any other address is only text', () => {
  for (const url of [
    null,
    '',
    'javascript:alert(1)',
    'data:text/html,x',
    ' https://codehost.example',
    '//x',
    '/tasks',
  ])
    expect(rendered(url)).toBe('ada')
})
