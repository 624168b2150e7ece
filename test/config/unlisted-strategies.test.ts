import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/load-config.ts'
import { listUnlistedStrategies } from '../../src/config/unlisted-strategies.ts'
import { GRID, MAIN, replaceOnce, Workspace } from './workspace.ts'

let workspace: Workspace
beforeEach(() => {
  workspace = new Workspace()
})
afterEach(() => workspace.remove())

function listUnlisted(files: Readonly<Record<string, string>> = {}): readonly string[] {
  workspace.fill(files)
  const cwd = workspace.directory
  return listUnlistedStrategies([loadConfig({ file: 'config/main.yaml', cwd }).config], cwd)
}

test('a project whose strategies are all listed has nothing to say', () => {
  expect(listUnlisted()).toEqual([])
})

test('a main file beside a strategy lists it too, as `new-strategy` writes it', () => {
  const brk = replaceOnce(GRID, 'id: grid', 'id: brk')
  const main = replaceOnce(MAIN, 'strategies/grid.yaml', 'brk.yaml')

  expect(
    listUnlisted({
      'config/strategies/brk.yaml': brk,
      'config/strategies/brk.paper.yaml': main,
      'strategies/own.yaml': brk,
      'strategies/own.paper.yaml': replaceOnce(main, 'brk.yaml', 'own.yaml'),
      'strategies/forgotten.yaml': brk,
      'config/main.yaml': replaceOnce(
        MAIN,
        'strategies/grid.yaml',
        'strategies/grid.yaml\n  - ../strategies/grid.yaml',
      ),
      'strategies/grid.yaml': replaceOnce(
        replaceOnce(GRID, 'id: grid', 'id: another'),
        '../../strategies/',
        './',
      ),
    }),
  ).toEqual(['strategies/forgotten.yaml'])
})

test('a strategy beside the listed ones that no main file lists is named', () => {
  const other = replaceOnce(GRID, 'id: grid', 'id: other')

  expect(
    listUnlisted({
      'config/strategies/forgotten.yaml': other,
      'config/strategies/of-other.yaml': other,
      'config/other.yaml': replaceOnce(MAIN, 'strategies/grid.yaml', 'strategies/of-other.yaml'),
      'config/strategies/examples/dca.yaml': other,
      'config/strategies/notes.yaml': 'a: 1\n',
      'config/strategies/broken.yaml': 'id: [',
      'config/broken.yaml': 'strategies: {',
    }),
  ).toEqual(['config/strategies/forgotten.yaml'])
})
