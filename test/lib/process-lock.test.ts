import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type LockHolder, takeProcessLock } from '../../src/lib/process-lock.ts'

const MODULE = fileURLToPath(new URL('../../src/lib/process-lock.ts', import.meta.url))

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'))
  file = join(folder, 'one.lock')
})

afterEach(() => rmSync(folder, { recursive: true }))

const holder = (name: string): LockHolder => ({
  pid: 7,
  since: 1,
  host: 'here',
  name,
  command: 'run',
})

test('one holds it, the next is told who, and has it once it is released', () => {
  const first = takeProcessLock(file, holder('first'))
  const second = takeProcessLock(file, holder('second'))
  if (first.kind === 'held') first.lock.release()
  const third = takeProcessLock(file, holder('third'))
  if (third.kind === 'held') third.lock.release()

  expect(second).toEqual({ kind: 'refused', by: holder('first') })
  expect([first.kind, third.kind]).toEqual(['held', 'held'])
})

test('a process that is killed has given it back', async () => {
  const script = `
    const { takeProcessLock } = await import(${JSON.stringify(MODULE)})
    globalThis.held = takeProcessLock(${JSON.stringify(file)}, ${JSON.stringify(holder('other'))})
    console.log(globalThis.held.kind)
    process.stdin.resume()`
  const other = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(other.stdout, 'data')

  const refused = takeProcessLock(file, holder('mine'))
  other.kill('SIGKILL')
  await once(other, 'close')
  const taken = takeProcessLock(file, holder('mine'))
  if (taken.kind === 'held') taken.lock.release()

  expect(refused).toEqual({ kind: 'refused', by: holder('other') })
  expect(taken.kind).toBe('held')
})

test('a file that is no lock is not taken for one', () => {
  writeFileSync(file, 'something that somebody else has written here, of some length'.repeat(20))

  expect(() => takeProcessLock(file, holder('mine'))).toThrow(/not a database/)
})
