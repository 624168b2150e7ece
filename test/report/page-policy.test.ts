import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { toDocument } from '../../src/report/page/page.ts'

test("[SEC1] a report page runs its own script alone, fetches nothing, and asks for no other policy's exceptions", () => {
  const page = toDocument('</title><script>alert(1)</script>', '', {
    text: '</script><img src=x onerror=alert(1)>',
  })

  const policy =
    /<meta http-equiv="Content-Security-Policy" content="([^"]*)">/.exec(page)?.[1] ?? ''
  const scripts = [...page.matchAll(/<script>([^]*?)<\/script>/g)].map(([, code = '']) => code)
  const digests = scripts.map((code) => `'sha256-${hash('sha256', code, 'base64')}'`)
  expect(digests).toHaveLength(1)
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `script-src ${digests[0]}`,
    "base-uri 'none'",
    "form-action 'none'",
  ])
  // It stands before everything that it is to hold.
  expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<title>'))
  expect(page).not.toMatch(/<script>alert|<img/)
})
