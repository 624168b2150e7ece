import { afterEach, beforeEach, expect, test } from 'vitest'
import { readAccounts } from '../../src/config/load-accounts.ts'
import { loadCredentials } from '../../src/config/secrets.ts'
import { formatProblem } from '../../src/config/yaml/problem.ts'
import { MAIN, replaceOnce, SIMULATOR_SECTION, Workspace } from './workspace.ts'

const OUTSIDE = replaceOnce(MAIN, SIMULATOR_SECTION, 'exchange:\n  baseUrl: http://127.0.0.1:9\n')

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

function read(main: string, bob: string) {
  workspace.fill({ 'config/main.yaml': main, 'config/bob.yaml': bob })
  const { problems, others } = readAccounts({ file: 'config/main.yaml', cwd: workspace.directory })
  return { problems: problems.map(formatProblem), others }
}

const withBob = (main: string) => `${main}accounts: [bob.yaml]\n`

const BOB = replaceOnce(
  replaceOnce(replaceOnce(OUTSIDE, 'name: paper', 'name: bob'), '.intentd/paper', '.intentd/bob'),
  'account:\n',
  'account:\n  keys: BOB\n',
)

test('[CFG1] a further account has a main file of its own, with keys of its own', () => {
  const { problems, others } = read(withBob(OUTSIDE), BOB)

  const [bob] = others.map(({ config }) => config)
  expect(problems).toEqual([])
  expect(bob?.name).toBe('bob')
  if (!bob) throw new Error('no account')
  const variables = {
    INTENTD_BOB_API_KEY: 'key-of-bob',
    INTENTD_BOB_API_SECRET: 'secret-of-bob',
    INTENTD_BOB_API_PASSPHRASE: 'words',
  }
  const keys = loadCredentials(bob, { cwd: workspace.directory, variables })
  expect(keys?.apiKey.reveal()).toBe('key-of-bob')
  expect(() => loadCredentials(bob, { cwd: workspace.directory, variables: {} })).toThrow(
    /INTENTD_BOB_API_SECRET/,
  )
})

test('[CFG1] what is one account’s cannot be another’s, and what all share is the same', () => {
  const same = replaceOnce(OUTSIDE, 'tickersMs: 250', 'tickersMs: 500')

  const { problems } = read(withBob(OUTSIDE), same)

  expect(problems.map((text) => text.replace(/: each.*|: all.*/, ''))).toEqual([
    expect.stringContaining('config/bob.yaml:1:'),
    expect.stringMatching(/account\.keys/),
    expect.stringMatching(/polling\.tickersMs/),
    expect.stringMatching(/state\.directory/),
  ])
})

test('[CFG1] the simulator inside has one account, and only the main file lists accounts', () => {
  expect(read(withBob(MAIN), BOB).problems.join('\n')).toContain(
    'the simulator inside the daemon has one account',
  )
  expect(read(withBob(OUTSIDE), withBob(BOB)).problems.join('\n')).toContain(
    'accounts: this belongs into the main file',
  )
})

test('[CFG1] a version that is newer than the program is refused with words', () => {
  expect(read(`version: 1\n${OUTSIDE}`, BOB).problems).toEqual([])
  expect(read(`version: 2\n${OUTSIDE}`, BOB).problems.join('\n')).toMatch(
    /config\/main\.yaml:1:\d+.*version.*a newer intentd/,
  )
})
