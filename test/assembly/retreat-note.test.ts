import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { forgetRetreat, hasRetreated, retreatNote } from '../../src/assembly/state/retreat-note.ts'

test('[ORD5] the note of a retreat stands until a run ends in good order, or has resolved what it found', () => {
  const directory = mkdtempSync(join(tmpdir(), 'retreat-'))
  const logged: string[] = []
  const note = retreatNote(directory, { log: (_, event) => logged.push(event) })

  const left = note.leave()
  expect([left, hasRetreated(directory)]).toEqual([true, true])

  forgetRetreat(directory)
  expect(hasRetreated(directory)).toBe(false)

  note.leave()
  note.forget()
  expect(hasRetreated(directory)).toBe(false)

  rmSync(directory, { recursive: true })
  expect([note.leave(), logged]).toEqual([false, ['retreat.notNoted']])
})
