import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { Failure, messageOf } from '../../lib/failure.ts'
import { print } from '../process/operator.ts'
import { toShellWord } from '../process/options.ts'
import { buildInitFiles } from './init-files.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

/** `intentd init DIR`: a working directory in which `check`, `run` and `test` work at once. */
export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description('make a working directory: configuration, a strategy and its test, files for supervisors')
    .argument('<directory>', 'a new or empty directory')
    .action((directory: string) => init(directory))
}

/** @throws Failure INIT_NOT_EMPTY, INIT_UNWRITABLE */
function init(name: string): void {
  const directory = resolve(name)
  try {
    makeDirectory(directory, 0o700)
    assertEmpty(directory)
    for (const [path, text] of buildInitFiles(directory)) {
      makeDirectory(dirname(join(directory, path)))
      writeFileSync(join(directory, path), text, { flag: 'wx' })
    }
    // It comes to hold `.env` and the state.
    chmodSync(directory, 0o700)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure({
      code: 'INIT_UNWRITABLE',
      sentence: 'the working directory cannot be written',
      facts: { directory, found: messageOf(error) },
      hint: 'name another directory, or fix its rights',
      cause: error,
    })
  }
  print(
    `${directory} is ready. Next:\n  cd ${toShellWord(directory)}\n  intentd check\n  intentd test\n  intentd run`,
  )
}

function assertEmpty(directory: string): void {
  const [found] = readdirSync(directory)
  if (found === undefined) return
  throw new Failure({
    code: 'INIT_NOT_EMPTY',
    sentence: 'the directory is not empty, and nothing was written',
    facts: { directory, found },
    hint: 'name a new directory',
  })
}
