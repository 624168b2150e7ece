import { expect, test } from 'vitest'
import { WrittenRecords } from '../../src/daemon/account/written-records.ts'

/** A journal whose commits end when the test says so. */
function openScene() {
  const commits: ((failure?: unknown) => void)[] = []
  const failures: unknown[] = []
  const records: WrittenRecords = new WrittenRecords(
    { commit: (done) => void commits.push(done) },
    (error) => {
      failures.push(error)
      records.fail()
    },
  )
  const heard: boolean[] = []
  records.when((isWritten) => heard.push(isWritten))
  records.when((isWritten) => heard.push(isWritten))
  return { commits, failures, records, heard }
}

test('a command waits for the commit of its record', () => {
  const { commits, failures, heard } = openScene()
  expect(heard).toEqual([])
  for (const done of commits) done()

  expect([heard, failures]).toEqual([[true, true], []])
})

test('a commit that fails breaks the run down once, and no command is written', () => {
  const { commits, failures, heard } = openScene()
  for (const done of commits) done('no space')

  expect([heard, failures]).toEqual([[false, false], ['no space']])
})

test('a run that breaks down first ends all waiting', () => {
  const { commits, failures, records, heard } = openScene()
  records.fail()
  for (const done of commits) done()

  expect([heard, failures]).toEqual([[false, false], []])
})

test('a journal that takes no more breaks the run down', () => {
  const failures: unknown[] = []
  const heard: boolean[] = []
  const broken = new Error('poisoned')
  const commit = (): void => {
    throw broken
  }
  new WrittenRecords({ commit }, (error) => failures.push(error)).when((isWritten) =>
    heard.push(isWritten),
  )

  expect([heard, failures]).toEqual([[false], [broken]])
})
