import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { hangNoteOf, haltHungStrategy } from '../../src/daemon/watchdog/hang-note.ts'

const directory = mkdtempSync(join(tmpdir(), 'hung-'))
afterAll(() => rmSync(directory, { recursive: true }))

test('[STR1] the note of a strategy that hung is there until its halt is recorded', () => {
  const file = hangNoteOf(directory)
  const logger = { log: () => {} }
  const seen: boolean[] = []
  writeFileSync(file, JSON.stringify({ at: 1, hungMs: 5000, strategy: 'looping' }))

  for (const isRecorded of [false, true]) {
    haltHungStrategy(directory, logger, (halt, onRecorded) => {
      expect(halt).toMatchObject({ kind: 'haltStrategy', strategyId: 'looping' })
      seen.push(existsSync(file))
      if (isRecorded) onRecorded()
    })
    expect(existsSync(file)).toBe(!isRecorded)
  }
  haltHungStrategy(directory, logger, () => seen.push(false))

  expect(seen).toEqual([true, true])
})
