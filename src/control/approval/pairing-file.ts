import { readFileSync, statSync } from 'node:fs'
import { z } from 'zod'
import { writeDurably } from '../../lib/durable-file.ts'
import { Failure, messageOf } from '../../lib/failure.ts'
import { runAlone } from '../../lib/process-lock.ts'
import { Secret } from '../../lib/secret.ts'
import { parseBoundedJson } from '../../lib/text/bounded-json.ts'

const OTHERS = 0o077
const WRONG_KEPT_MAX = 100

const pairingFileSchema = z.strictObject({
  secret: z.string().regex(/^[A-Z2-7]{26,200}$/),
  pairedAt: z.int(),
  usedCounter: z.int(),
  wrongAt: z.array(z.int()).max(WRONG_KEPT_MAX),
  locks: z.int().min(0),
  lockedUntil: z.int(),
})

export interface Pairing {
  /** Base32. */
  readonly secret: Secret
  readonly pairedAt: number
  /** Codes of this 30 s step and of earlier ones no longer count. */
  readonly usedCounter: number
  /** Unix ms of wrong codes since the last right one. */
  readonly wrongAt: readonly number[]
  /** The number of locks since the last right code. */
  readonly locks: number
  readonly lockedUntil: number
}

export interface PairingStore {
  /** Undefined without a pairing. @throws Failure PAIRING_EXPOSED, PAIRING_UNREADABLE */
  load(): Pairing | undefined
  /** @throws the error of the file system */
  save(pairing: Pairing): void
  /**
   * Several daemons share the file: none of the others saves it while this works.
   * @throws Failure PAIRING_BUSY: another process has the lock; this does not wait for it
   */
  alone<Result>(work: () => Result): Result
}

/** The file is read at each use, so that a new pairing counts at once. */
export function createPairingFile(file: string): PairingStore {
  return {
    load: () => readPairing(file),
    save: ({ secret, ...rest }) =>
      writeDurably(file, `${JSON.stringify({ secret: secret.reveal(), ...rest })}\n`),
    alone: (work) => {
      const done = runAlone(`${file}.lock`, work)
      if (done !== undefined) return done.result
      throw new Failure({
        code: 'PAIRING_BUSY',
        sentence: 'another process uses the one-time codes at this moment',
        facts: { file },
        hint: 'nothing was done: send the code again',
      })
    },
  }
}

function readPairing(file: string): Pairing | undefined {
  const found = statSync(file, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if ((found.mode & OTHERS) !== 0 && process.platform !== 'win32')
    throw new Failure({
      code: 'PAIRING_EXPOSED',
      sentence: 'the secret of the one-time codes can be read by others',
      facts: { file, mode: (found.mode & 0o777).toString(8) },
      hint: 'make another one: intentd pair --again',
    })
  try {
    const { secret, ...rest } = pairingFileSchema.parse(
      parseBoundedJson(readFileSync(file, 'utf8')),
    )
    return { secret: new Secret(secret), ...rest }
  } catch (error) {
    // The error of a parser may contain text of the file.
    const reason = error instanceof Error && 'code' in error ? messageOf(error) : 'its content'
    throw new Failure({
      code: 'PAIRING_UNREADABLE',
      sentence: 'the secret of the one-time codes cannot be read',
      facts: { file, reason },
      hint: 'run the command as the user of the daemon, or make another one: intentd pair --again',
    })
  }
}
