import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { randomHex } from '../../lib/entropy.ts'
import { messageOf } from '../../lib/failure.ts'

/** Letters that are looked at in one round; the rest waits for the next. */
const LETTERS_MAX = 20
const LETTER_BYTES_MAX = 4096

/** What an operator asks of a daemon from another process. */
const letterSchema = z.strictObject({
  kind: z.literal('release'),
  /** The halted instrument, `*` for a halt of everything; absent: the kill switch. */
  symbol: z.string().min(1).max(64).optional(),
  reason: z.string().min(1).max(500),
  by: z.string().min(1).max(200),
})

export type OperatorLetter = z.infer<typeof letterSchema>

function mailboxOf(directory: string): string {
  return join(directory, 'operator')
}

/** Leaves a letter for the daemon of a state directory, running or to come. Returns its file, gone when it was read. */
export function postLetter(directory: string, letter: OperatorLetter): string {
  const mailbox = mailboxOf(directory)
  mkdirSync(mailbox, { recursive: true, mode: 0o700 })
  const file = join(mailbox, `${letter.kind}-${randomHex(8)}.json`)
  writeFileSync(`${file}.new`, JSON.stringify(letterSchema.parse(letter)), { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return file
}

export interface OperatorMailboxOptions {
  readonly directory: string
  readonly onLetter: (letter: OperatorLetter) => void
  /** A file that is no letter; it is set aside. */
  readonly onUnreadable: (file: string, reason: string) => void
}

/**
 * Commands that reach the daemon as files, so that they need no port, and wait for one that does not run yet.
 * Only the owner of the state directory can leave one. A letter is removed after it has been obeyed: one that
 * is read twice, around a crash, changes nothing the second time.
 */
export class OperatorMailbox {
  readonly #options: OperatorMailboxOptions

  constructor(options: OperatorMailboxOptions) {
    this.#options = options
  }

  /** Reads what has come in, oldest name first. */
  empty(): void {
    const mailbox = mailboxOf(this.#options.directory)
    for (const name of lettersIn(mailbox)) this.#read(join(mailbox, name))
  }

  #read(file: string): void {
    const { onLetter, onUnreadable } = this.#options
    try {
      if (statSync(file).size > LETTER_BYTES_MAX) throw new Error(`more than ${LETTER_BYTES_MAX} bytes`)
      const letter = letterSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
      onLetter(letter)
      rmSync(file, { force: true })
    } catch (error) {
      onUnreadable(file, messageOf(error))
      renameSync(file, `${file}.unreadable`)
    }
  }
}

function lettersIn(mailbox: string): readonly string[] {
  try {
    return readdirSync(mailbox)
      .filter((name) => name.endsWith('.json'))
      .toSorted()
      .slice(0, LETTERS_MAX)
  } catch {
    return [] // Nobody has ever left one.
  }
}
