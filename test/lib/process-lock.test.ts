import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Failure } from '../../src/lib/failure.ts'
import { type LockHolder, runAlone, takeProcessLock } from '../../src/lib/process-lock.ts'

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

test('a damaged file is not taken for a lock, and the error says which file to delete and when', () => {
  const garbage = 'something that somebody else has written here, of some length'.repeat(20)
  const held = takeProcessLock(file, holder('first'))
  if (held.kind === 'held') held.lock.release()
  const half = readFileSync(file).subarray(0, 4096)
  const take = () => takeProcessLock(file, holder('mine'))
  // A lock that holds no name reads nothing of the file beyond its first page.
  const damages = [
    [garbage, take],
    [half, take],
    [garbage, () => runAlone(file, () => 'alone')],
  ] as const

  for (const [content, work] of damages) {
    writeFileSync(file, content)
    const error = failureOf(work)
    expect(error).toMatchObject({ code: 'LOCK_DAMAGED', facts: { file } })
    expect(error.hint).toContain('delete the file')
    rmSync(file)
    const taken = take()
    expect(taken.kind).toBe('held')
    if (taken.kind === 'held') taken.lock.release()
  }
})

test('an empty file is a lock that nothing holds', () => {
  writeFileSync(file, '')

  const taken = takeProcessLock(file, holder('mine'))
  if (taken.kind === 'held') taken.lock.release()

  expect(taken.kind).toBe('held')
})

function failureOf(work: () => unknown): Failure {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error('it did not fail')
}
