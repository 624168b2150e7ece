import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findEndlessFile } from '../../../src/strategy/testing/watched-loading.ts'

test('a file that loops or waits while it is loaded is named; one that throws is for others to report', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'loading-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const write = (name: string, code: string): string => {
    const file = join(directory, name)
    writeFileSync(file, code)
    return file
  }
  const throws = write('throws.mts', "throw new Error('no')")
  const waits = write('waits.mts', 'await new Promise(() => undefined)')
  const loops = write('loops.mts', 'for (;;);')

  expect(await findEndlessFile({ files: [throws], drafts: [] })).toBeUndefined()
  for (const endless of [loops, waits]) {
    expect(await findEndlessFile({ files: [throws, endless], drafts: [] }, 300)).toMatchObject({
      code: 'STRATEGY_IMPORT_HANGS',
      facts: { file: endless },
    })
  }
})
