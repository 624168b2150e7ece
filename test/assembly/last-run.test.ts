import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import {
  CommandInbox,
  listWaiting,
  postCommand,
  refuseCommand,
  takeAnswer,
  type CommandInboxOptions,
} from '../../src/daemon/account/command-inbox.ts'
import { describeLastRun, noteRun, readLastRun } from '../../src/assembly/state/last-run.ts'

const directory = mkdtempSync(join(tmpdir(), 'intentd-last-run-'))
afterAll(() => rmSync(directory, { recursive: true }))

const AT = Date.UTC(2025, 5, 2, 6)
const BEGUN = { pid: 77, beganAt: AT }

test.each([
  [
    BEGUN,
    /^the last run \(pid 77, since 2025-06-02 06:00:00 UTC\) left no note of its end: .* the disk was full/,
  ],
  [{ ...BEGUN, endedAt: AT, clean: true }, /ended in good order at 2025-06-02 06:00:00 UTC/],
  [{ ...BEGUN, endedAt: AT, clean: false }, /in flight or unproved/],
  [
    { ...BEGUN, endedAt: AT, clean: false, fault: 'JOURNAL_POISONED' },
    /broke at .*: JOURNAL_POISONED/,
  ],
])('how a run ended is known when nothing runs any more: %j', (run, words) => {
  noteRun(directory, run)

  expect(describeLastRun(readLastRun(directory) ?? BEGUN)).toMatch(words)
})

test('commands that wait are named, and answers that nobody fetched are gone at the next start', () => {
  const ordered = { reason: 'enough', by: 'anna' }
  const file = postCommand(directory, { kind: 'flatten', scope: 'BTCUSDT', ...ordered })
  const scopes = ['BTCUSDT', 'ETHUSDT', 'SOLUSDT', 'XRPUSDT', 'ADAUSDT']
  for (const scope of scopes)
    postCommand(directory, { kind: 'adopt', scope, strategy: 'grid', ...ordered })
  expect(listWaiting(directory)).toEqual([
    'flatten BTCUSDT, by anna: enough',
    ...scopes.map((scope) => `adopt ${scope}, by anna: enough`),
  ])

  const options: CommandInboxOptions = {
    directory,
    onCommand: () => refuseCommand({}),
    whenWritten: (done) => done(true),
    onUnreadable: () => undefined,
  }
  new CommandInbox(options).empty()
  expect(listWaiting(directory)).toEqual([])
  new CommandInbox(options).empty()

  expect(takeAnswer(file)).toBeUndefined()
})
