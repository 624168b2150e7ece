import { chmodSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Command } from 'commander'
import { Failure, messageOf } from '../../lib/failure.ts'
import { programWords } from '../process/program-words.ts'
import { print } from '../process/operator.ts'
import { toShellWord } from '../../lib/text/shell-word.ts'
import { buildInitFiles, listUserCommands, unitUser } from './init-files.ts'
import { makeDirectory } from '../../lib/durable-file.ts'

export function addInitCommand(program: Command): void {
  program
    .command('init')
    .description(
      'make a working directory: configuration, a strategy and its test, files for supervisors',
    )
    .argument('<directory>', 'a new or empty directory')
    .action((directory: string) => init(directory))
}

function init(name: string): void {
  const directory = resolve(name)
  try {
    makeDirectory(directory, 0o700)
    assertEmpty(directory)
    for (const [path, text] of buildInitFiles(directory)) {
      makeDirectory(dirname(join(directory, path)))
      writeFileSync(join(directory, path), text, { flag: 'wx' })
    }
    // The directory will hold `.env` and the state.
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
  print(describeNext(directory))
}

function describeNext(directory: string): string {
  const verbs = ['check', 'test', 'run'].map((verb) => `${programWords(directory)} ${verb}`)
  const next = [`cd ${toShellWord(directory)}`, ...verbs]
  const user = listUserCommands(directory)
  const asRoot = [
    `You are root. intentd.service runs as the user ${unitUser()}; make it, and give it the directory, before you start the unit:`,
    ...user.map((command) => `  ${command}`),
  ]
  return [
    `${directory} is ready. Next:`,
    ...next.map((command) => `  ${command}`),
    ...(user.length > 0 ? asRoot : []),
  ].join('\n')
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
