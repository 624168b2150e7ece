import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildApiDocs } from './api-docs.ts'
import { describeEndpoint } from '../../src/protocol/describe-endpoint.ts'
import { endpointNamed, callableNames } from '../../src/protocol/endpoints.ts'

const FILE = join(import.meta.dirname, '../../docs/exchange-api.md')

describe('docs/exchange-api.md', () => {
  const docs = buildApiDocs()

  it('is what the table says today: `npm run docs` writes it anew', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(docs)
  })

  it.each(callableNames)('has a section for %s, with every field', (name) => {
    const [, rest = ''] = docs.split(`\n### ${name}\n`)
    const section = rest.split(/\n##+ /)[0] ?? ''
    const { path, parameters, answer } = describeEndpoint(endpointNamed(name))

    expect(section).toContain(path)
    for (const field of [...parameters, ...answer])
      expect(section).toContain(`| \`${field.name}\` |`)
    expect(section).toMatch(/- Auth: .+\n- Limit: .+\n- Retry: .+\n/)
  })

  it('says what is checked in the words of the refusal', () => {
    expect(docs).toContain('- `orderList[].price`: price is required when orderType is limit')
    expect(docs).toContain('- orderList[].tradeSide is required in hedge position mode')
    expect(docs).toContain('- `newCallbackRatio`: newCallbackRatio must not be greater than 10')
  })
})
