import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXITS } from '../../src/cli/process/exit-codes.ts'
import { MODE_REASONS } from '../../src/domain/trading-mode.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')

/** The first cells of all tables. */
const firstCells = [...page.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell = '']) => cell)

test('the operations page says what to do about every reason of a mode', () => {
  const cells = firstCells.join(' ')

  expect(Object.keys(MODE_REASONS).filter((reason) => !cells.includes(`\`${reason}\``))).toEqual([])
})

test('the operations page says what to do about every exit code', () => {
  const codes = new Set(firstCells.flatMap((cell) => cell.split(', ')))

  expect(Object.values(EXITS).filter((code) => !codes.has(String(code)))).toEqual([])
})
