import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { mutate, type Mutant } from './mutant.ts'
import { LEASE_MUTANTS } from './lease-mutants.ts'
import { MUTANTS } from './mutants.ts'

const ROOT = join(import.meta.dirname, '../..')
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc')

/** A group takes ten seconds: with one in twelve, the first and largest, most errors are in it. */
const EACH = 12

/** A copy of the product, and what the compiler knows of it from group to group: a third of the time. */
const directory = mkdtempSync(join(tmpdir(), 'intentd-mutants-'))
cpSync(join(ROOT, 'src'), join(directory, 'src'), { recursive: true })
for (const name of ['tsconfig.json', 'package.json'])
  cpSync(join(ROOT, name), join(directory, name))
symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))

afterAll(() => rmSync(directory, { recursive: true }))

/** Groups whose members do not stand on each other's text: by path the files with all errors of a group in them. */
function plantTogether(mutants: readonly Mutant[]): ReadonlyMap<string, string>[] {
  const groups: Map<string, string>[] = []
  for (const mutant of mutants) {
    const { path } = mutate(mutant)
    const group = groups.find((planted) => fits(mutant, planted, path)) ?? new Map<string, string>()
    if (!groups.includes(group)) groups.push(group)
    group.set(path, mutate(mutant, group).source)
  }
  return groups
}

function fits(mutant: Mutant, planted: ReadonlyMap<string, string>, path: string): boolean {
  try {
    return mutate(mutant, planted).path === path
  } catch {
    return false
  }
}

/** What the compiler says of the product with these files in it. */
function compile(planted: ReadonlyMap<string, string>): string {
  for (const [path, source] of planted) writeFileSync(path.replace(ROOT, directory), source)
  // An error may well leave something unused.
  const flags = ['-p', directory, '--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
  flags.push('--incremental', '--tsBuildInfoFile', join(directory, 'known.json'))
  const { stdout } = spawnSync(process.execPath, [TSC, ...flags], { encoding: 'utf8' })
  for (const path of planted.keys()) cpSync(path, path.replace(ROOT, directory))
  return stdout
}

test('planted errors compile: what throws for its types alone would be noticed for nothing', () => {
  const complaints = plantTogether([...MUTANTS, ...LEASE_MUTANTS])
    .filter((_, index) => index % EACH === 0)
    .map((planted) => compile(planted))

  expect(complaints).toEqual(complaints.map(() => ''))
})
