import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { showEachAccount } from '../../src/cli/control/each-account.ts'
import { Failure } from '../../src/lib/failure.ts'
import { MAIN, replaceOnce, Workspace } from '../config/workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

test('what is shown of the main file is shown of each account, and the trouble of one hides no other', async () => {
  workspace.fill({
    'config/main.yaml': `${MAIN}accounts: [bob.yaml, carol.yaml]\n`,
    'config/bob.yaml': replaceOnce(MAIN, 'name: paper', 'name: bob'),
    'config/carol.yaml': replaceOnce(MAIN, 'name: paper', 'name: carol'),
  })
  const at = (name: string) => join(workspace.directory, `config/${name}.yaml`)
  const shown: (readonly [string | undefined, readonly string[]])[] = []

  const code = await showEachAccount(
    { config: at('main'), set: ['log.level=warn'], json: true },
    ({ config, set }) => {
      shown.push([config, set])
      if (config === at('bob'))
        throw new Failure({ code: 'JOURNAL_UNREADABLE', sentence: 'it is not there' })
      return 0
    },
  )

  expect(shown).toEqual([
    [at('main'), ['log.level=warn']],
    [at('bob'), []],
    [at('carol'), []],
  ])
  expect(code).toBe(75)
})

test.each([
  ['one account has what is asked for', ['none', 0, 'none'], 0],
  ['none of them has it', ['none', 'none', 'none'], 1],
  ['one is refused', ['none', 1, 0], 1],
] as const)('the exit code where %s', async (_, answers, expected) => {
  workspace.fill({
    'config/main.yaml': `${MAIN}accounts: [bob.yaml, carol.yaml]\n`,
    'config/bob.yaml': replaceOnce(MAIN, 'name: paper', 'name: bob'),
    'config/carol.yaml': replaceOnce(MAIN, 'name: paper', 'name: carol'),
  })
  const left = [...answers]
  const options = { config: join(workspace.directory, 'config/main.yaml'), set: [], json: true }

  expect(await showEachAccount(options, () => left.shift() ?? 0)).toBe(expected)
})

test('a file that lists no accounts is shown alone', async () => {
  workspace.fill()
  const options = { config: join(workspace.directory, 'config/main.yaml'), set: [] }
  const shown: unknown[] = []

  const code = await showEachAccount(options, (own) => {
    shown.push(own)
    return 1
  })

  expect([shown, code]).toEqual([[options], 1])
})
