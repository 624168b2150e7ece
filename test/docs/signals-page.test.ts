import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { signalsSchema } from '../../src/config/schema/signals-schema.ts'

const fieldSchema = signalsSchema.shape.accept.valueType.shape.fields.valueType
const page = readFileSync(join(import.meta.dirname, '../../docs/signals.md'), 'utf8').split('\n')

test('the page of signals has each type of a field with its settings', () => {
  expect(fieldSchema.options.length).toBeGreaterThan(3)
  for (const { shape } of fieldSchema.options) {
    const { type, optional: _optional, ...settings } = shape
    const [row = 'no row'] = page.filter((line) => line.startsWith(`| \`${type.value}\` |`))

    for (const setting of Object.keys(settings)) expect(row).toContain(`\`${setting}\``)
    expect(row).not.toBe('no row')
  }
})
