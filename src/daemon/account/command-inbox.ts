import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { randomHex } from '../../lib/entropy.ts'
import { messageOf } from '../../lib/failure.ts'

/** Commands that are looked at in one round; the rest waits for the next. */
const COMMANDS_MAX = 20
const COMMAND_BYTES_MAX = 4096

/** What an operator asks of a daemon from another process. */
const commandSchema = z.strictObject({
  kind: z.literal('release'),
  /** What is released: an instrument, `strategy:ID`, `*` for the account; absent: the kill switch. */
  scope: z.string().min(1).max(100).optional(),
  reason: z.string().min(1).max(500),
  by: z.string().min(1).max(200),
})

export type ControlCommand = z.infer<typeof commandSchema>

function inboxOf(directory: string): string {
  return join(directory, 'operator')
}

/** Leaves a command for the daemon of a state directory, running or to come. Returns its file, gone when it was read. */
export function postCommand(directory: string, command: ControlCommand): string {
  const inbox = inboxOf(directory)
  mkdirSync(inbox, { recursive: true, mode: 0o700 })
  const file = join(inbox, `${command.kind}-${randomHex(8)}.json`)
  writeFileSync(`${file}.new`, JSON.stringify(commandSchema.parse(command)), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

export interface CommandInboxOptions {
  readonly directory: string
  readonly onCommand: (command: ControlCommand) => void
  /** A file that is no command; it is set aside. */
  readonly onUnreadable: (file: string, reason: string) => void
}

/**
 * Commands that reach the daemon as files, so that they need no port, and wait for one that does not run yet.
 * Only the owner of the state directory can leave one. A command is removed after it has been obeyed: one that
 * is read twice, around a crash, changes nothing the second time.
 */
export class CommandInbox {
  readonly #options: CommandInboxOptions

  constructor(options: CommandInboxOptions) {
    this.#options = options
  }

  /** Reads what has come in, oldest name first. */
  empty(): void {
    const inbox = inboxOf(this.#options.directory)
    for (const name of commandsIn(inbox)) this.#read(join(inbox, name))
  }

  #read(file: string): void {
    const { onCommand, onUnreadable } = this.#options
    try {
      if (statSync(file).size > COMMAND_BYTES_MAX) throw new Error(`more than ${COMMAND_BYTES_MAX} bytes`)
      const command = commandSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
      onCommand(command)
      rmSync(file, { force: true })
    } catch (error) {
      onUnreadable(file, messageOf(error))
      renameSync(file, `${file}.unreadable`)
    }
  }
}

function commandsIn(inbox: string): readonly string[] {
  try {
    return readdirSync(inbox)
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .slice(0, COMMANDS_MAX)
  } catch {
    return [] // Nobody has ever left one.
  }
}
